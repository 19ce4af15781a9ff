/**
 * All that a server offers beside tools is one thing to consent to: its resources, its prompts and what
 * completes them. Under this name it stands among allowances and grants.
 */
export const contentName = "(content)";

/** Of no definition: what a server lists there may change at any time. No tool has such a fingerprint. */
export const contentFingerprint = "content";
