/** A server's name as an id: NFKC, lower case, runs of anything but letters, digits, `_` and `-` become one `-`. Empty when nothing is left. */
export function slug(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "");
}
