import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import { until } from "../../async/stop.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { supportedVersions } from "../../protocol/wire/protocol-versions.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import {
  type ContractRun,
  describeAnswer,
  fail,
  failedAnswer,
  type Judged,
  pass,
  skip,
  warn,
} from "./contract-run.ts";

export async function judgeIdentity(run: ContractRun): Promise<Judged> {
  const { serverInfo, era } = await run.client();
  const { name, version } = serverInfo;
  const evidence = `${name} ${version}`;
  if (name !== "unknown" && version !== "unknown") return pass(evidence);
  return era === "modern" ? warn("it says nothing of itself") : fail(`it says: ${evidence}`);
}

/** A version that never was: a server must not agree to it. */
const unknownVersion = "1999-01-01";

export async function judgeVersionNegotiation(run: ContractRun): Promise<Judged> {
  const message = {
    jsonrpc: "2.0" as const,
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: unknownVersion,
      capabilities: {},
      clientInfo: run.parts.clientInfo,
    },
  };
  let answer: JsonObject;
  try {
    answer = await exchange(run, message);
  } catch (error) {
    const answered = failedAnswer(error);
    // A server of the modern era alone knows no `initialize`.
    if ((await run.client()).era === "modern") return skip(describeAnswer(answered));
    return fail(describeAnswer(answered));
  }
  const { result, error } = answer;
  if (!isJsonObject(result)) {
    const code = isJsonObject(error) ? ` ${String(error["code"])}` : "";
    if ((await run.client()).era === "modern") return skip("it has no initialize");
    return fail(`it answers ${unknownVersion} with an error${code}`);
  }
  const version = String(result["protocolVersion"]);
  if (supportedVersions.includes(version)) return pass(`${version} in place of ${unknownVersion}`);
  return fail(`it answers ${unknownVersion} with ${JSON.stringify(version)}`);
}

/** Sends one message over a connection of its own, and gives the answer to it. */
async function exchange(run: ContractRun, message: JSONRPCMessage): Promise<JsonObject> {
  const { parts, config, timeoutMs, signal } = run;
  const { limits, clock, logger, hostEnv } = parts;
  const transport = await parts.createTransport(config, { limits, clock, logger, hostEnv });
  const { promise, resolve, reject } = withResolvers<JsonObject>();
  transport.onmessage = (received: unknown) => {
    if (isJsonObject(received) && received["id"] === 1 && !("method" in received))
      resolve(received);
  };
  transport.onclose = () =>
    reject(transport.failure ?? createError("connection_lost", "it closed the connection"));
  try {
    return await until(
      async () => {
        await transport.start();
        transport.send(message).catch(reject);
        return await promise;
      },
      {
        signals: [signal],
        clock,
        afterMs: timeoutMs,
        tooLate: () => createError("timeout", "no answer in time"),
      },
    );
  } finally {
    transport.onclose = undefined;
    await transport.close();
  }
}

interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>(): Resolvers<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((onValue, onReason) => {
    resolve = onValue;
    reject = onReason;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

export async function judgePing(run: ContractRun): Promise<Judged> {
  const { era } = await run.client();
  const method = era === "modern" ? "server/discover" : "ping";
  const answer = await run.ask(method);
  return "result" in answer ? pass(`to ${method}`) : fail(`${method}: ${describeAnswer(answer)}`);
}

const methodNotFound = -32_601;

export async function judgeUnknownMethod(run: ContractRun): Promise<Judged> {
  const answer = await run.ask("plugboard/no-such-method");
  const evidence = describeAnswer(answer);
  return "error" in answer && answer.error.code === methodNotFound
    ? pass(evidence)
    : fail(evidence);
}

export async function judgeUnknownNotification(run: ContractRun): Promise<Judged> {
  const client = await run.client();
  try {
    await client.notify("notifications/plugboard/no-such-notification");
    // A server that ended of it does not answer any more.
    await client.ping({ timeoutMs: run.timeoutMs, signal: run.signal });
    return pass("it goes on");
  } catch (error) {
    if (!McpError.is(error)) throw error;
    // A server may refuse the ping; that is the finding of another rule.
    if (error.details["rpc"] !== undefined) return pass("it goes on");
    return fail(error.message);
  }
}
