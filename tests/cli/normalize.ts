/** Times, ports and ids that differ from run to run. */
export function normalize(text: string): string {
  return (
    text
      // A server slower to start than the probe waits is spoken to in the older revision.
      .replaceAll(/\bMCP 20\d\d-\d\d-\d\d\b/g, "MCP <revision>")
      .replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/g, "<time>")
      .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>")
      .replaceAll(/[ \t]+(?=<time>)/g, " ")
  );
}
