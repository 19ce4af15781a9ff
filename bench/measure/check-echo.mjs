/**
 * A first call, checked: what a client puts off until then is part of the bill.
 *
 * @param {import("../clients/client.mjs").EchoClient<any>} client
 */
export async function checkEcho({ call, textOf }) {
  if (textOf(await call("x")) !== "x") throw new Error("a call did not return its text");
}
