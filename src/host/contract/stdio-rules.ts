import type { HostTransport } from "../../transport/host-transport.ts";
import {
  type ClosedConnection,
  type ContractRun,
  counted,
  fail,
  type Judged,
  pass,
  warn,
} from "./contract-run.ts";
import type { RuleId } from "./rule-texts.ts";

/** The times after which a process that does not end by itself is sent SIGTERM, and then SIGKILL. */
const stopLimits = { stopTermAfterMs: 5_000, stopGraceMs: 7_000 } as const;

/** Ends the process and judges how it does that, and what it printed until then. */
export async function* judgeProcess(run: ContractRun): AsyncGenerator<readonly [RuleId, Judged]> {
  // A server that does not end by itself is given more time than others, here and not before.
  const failure = await run.reopen(stopLimits).then(
    () => undefined,
    (error: unknown) => fail(error instanceof Error ? error.message : String(error)),
  );
  const closed = await run.close();
  const last = run.transports.at(-1);
  yield ["stdout", judgeStdout(run.transports)];
  if (last !== undefined) yield ["stderr", judgeStderr(last)];
  yield [
    "shutdown",
    failure ?? (closed === undefined ? fail("it is gone") : judgeShutdown(closed)),
  ];
}

function judgeStdout(transports: readonly HostTransport[]): Judged {
  const evidence = transports.map((transport) => transport.evidence);
  const count = evidence.reduce((sum, { junkMessages }) => sum + junkMessages, 0);
  if (count === 0) return pass("nothing else");
  const [first = ""] = evidence.flatMap(({ stdoutHead = [] }) => stdoutHead);
  return fail(
    `${count === 1 ? "1 line is" : `${count} lines are`} no message: ${JSON.stringify(first)}`,
  );
}

/** A log on stderr is as it should be; an error in it, while every request is answered, is worth a look. */
function judgeStderr(transport: HostTransport): Judged {
  const lines = transport.evidence.stderrTail ?? [];
  const cause = transport.findCause?.();
  if (cause?.stream === "stderr" && cause.kind === "error") return warn(cause.summary);
  if (lines.length === 0) return pass("it is empty");
  return pass(counted(lines.length, "line"));
}

function judgeShutdown({ transport, elapsedMs }: ClosedConnection): Judged {
  const { exitCode, signal } = transport.evidence;
  const time = `after ${(elapsedMs / 1_000).toFixed(1)} s`;
  if (elapsedMs >= stopLimits.stopTermAfterMs)
    return signal === "SIGKILL"
      ? fail(`it had to be killed ${time}: it takes no notice of SIGTERM either`)
      : warn(`it ended of SIGTERM, ${time}`);
  if (exitCode === 0) return pass(`exit code 0 ${time}`);
  return warn(typeof exitCode === "number" ? `exit code ${exitCode} ${time}` : `${signal} ${time}`);
}
