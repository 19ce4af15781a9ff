import { openTarget } from "../servers/open-target.mjs";
import { cpuMicrosSince } from "./measure-calls.mjs";

/**
 * The first call after the tools are listed, and the one after it.
 *
 * @param {{ client: string, outputSchemas: number }} options
 */
export async function measure({ client: file, outputSchemas }) {
  /** @type {{ open: import("../clients/client.mjs").OpenEchoClient }} */
  const { open } = await import(`../clients/${file}.mjs`);
  const { target } = await openTarget("stdio", { outputSchemas });
  const client = await open(target);
  const text = "x".repeat(100);
  const timedCall = async () => {
    const cpuBefore = process.cpuUsage();
    const since = performance.now();
    const result = await client.call(text);
    const ms = performance.now() - since;
    const cpuMs = cpuMicrosSince(cpuBefore) / 1_000;
    if (client.textOf(result) !== text) throw new Error("a call did not return its text");
    return { ms, cpuMs };
  };
  const first = await timedCall();
  const second = await timedCall();
  await client.close();
  return { firstMs: first.ms, firstCpuMs: first.cpuMs, secondMs: second.ms };
}
