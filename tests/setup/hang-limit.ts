/**
 * When a program that a test started counts as hanging: before the test itself does, so that it can be
 * ended. No measure of speed; a busy machine may take its time.
 */
export const hangsAfterMs = 100_000;
