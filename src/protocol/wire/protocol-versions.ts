/** `modern` is 2026-07-28 and later (stateless, `server/discover`); `legacy` is the `initialize` handshake. */
export type ProtocolEra = "legacy" | "modern";

/** The stateless revision: found with `server/discover`, named in every request. */
export const modernVersion = "2026-07-28";

/** The revisions of the `initialize` handshake, newest first: the first one is offered. */
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export const supportedVersions: readonly string[] = [modernVersion, ...legacyVersions];

/** The era of a revision this client speaks; undefined for any other text. */
export function eraOfVersion(version: string): ProtocolEra | undefined {
  if (version === modernVersion) return "modern";
  return supportedVersions.includes(version) ? "legacy" : undefined;
}

/** Only one revision ever had JSON-RPC batches. */
export function allowsBatches(version: string): boolean {
  return version === "2025-03-26";
}
