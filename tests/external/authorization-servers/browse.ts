/** Opens a page as a browser does, with its cookies, and goes wherever it is sent. Gives the status of the last page. */
export async function browse(page: string): Promise<number> {
  const cookies = new Map<string, string>();
  let address = new URL(page);
  for (;;) {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(address, { redirect: "manual", headers: { cookie } });
    await response.arrayBuffer();
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get("location");
    if (next === null) return response.status;
    address = new URL(next, address);
  }
}
