import { ManualClock, settled } from "../../fixtures/protocol/manual-clock.ts";
import { HostCounts } from "../plugboard-subject.ts";
import { createBareHost, type Product } from "../product.ts";
import type { Conversation, CutCallScript } from "./conversations.ts";
import { MutatedWire } from "./mutated-wire.ts";

const limits = {
  callTimeoutMs: 1_000,
  totalCallTimeoutMs: 5_000,
  connectTimeoutMs: 3_000,
  listTimeoutMs: 1_000,
  eraProbeMs: 300,
};
/** Whatever a server does, every limit above has been met by then. */
const longestWaitMs = 60_000;
/** Work outside the event loop knows nothing of the clock that is moved here. */
const realWaitMs = 5_000;
const stepMs = 500;
const patientTurns = 30;
const maxMessageBytes = 1_024 * 1_024;

/**
 * Has one conversation in process, on a clock of its own, and throws when the host did anything but
 * its duty: every call ends exactly once, nothing escapes, nothing is left behind.
 */
export async function runConversation(product: Product, conversation: Conversation): Promise<void> {
  const clock = new ManualClock();
  const counts = new HostCounts();
  const scripts = new Map<string, CutCallScript>();
  const handshakes = [...conversation.handshakes];
  const escaped: unknown[] = [];
  const onEscape = (error: unknown): void => void escaped.push(error);
  process.on("uncaughtException", onEscape);
  process.on("unhandledRejection", onEscape);

  const openWire = (): MutatedWire =>
    new MutatedWire({
      scripts,
      handshake: handshakes.shift() ?? [],
      createReader: (onMessage) =>
        new product.MessageReader({
          serverName: "mutated",
          limits: { maxMessageBytes, maxJsonDepth: 200, maxJsonValues: 1_000_000 },
          strict: false,
          secrets: [],
          logger: counts,
          onMessage,
        }),
    });

  const host = await createBareHost(product, {
    clock,
    logger: counts,
    limits,
    servers: { mutated: openWire },
  });
  counts.watch(host);
  try {
    const session = host.session({ level: "yolo" });
    let made = 0;
    for (const group of conversation.groups) {
      const calls = group.map(async (script) => {
        made += 1;
        const nonce = `n${made}`;
        scripts.set(nonce, script);
        const onProgress = (): void => {};
        const outcome = await session.call(
          "mcp__mutated__attack",
          { nonce },
          { callId: nonce, onProgress },
        );
        counts.ended(nonce, outcome);
        scripts.delete(nonce);
      });
      await driven(clock, Promise.all(calls), "a call hangs");
    }
    await driven(clock, host.close(), "closing hangs");
    await settled();
  } finally {
    process.off("uncaughtException", onEscape);
    process.off("unhandledRejection", onEscape);
  }
  if (escaped.length > 0) throw new Error("an error escaped", { cause: escaped[0] });
  const { doubleEnds, internalErrors } = counts;
  const left = { doubleEnds, internalErrors, timers: clock.pending, polluted: "polluted" in {} };
  if (Object.values(left).some(Boolean)) throw new Error(`not clean: ${JSON.stringify(left)}`);
}

/** Moves the clock until the promise has settled. */
async function driven(
  clock: ManualClock,
  promise: Promise<unknown>,
  otherwise: string,
): Promise<void> {
  const state = { isOver: false };
  const over = promise.finally(() => {
    state.isOver = true;
  });
  over.catch(() => {});
  // First what happens without any time passing: handshakes, answers, code being loaded.
  for (let turn = 0; !state.isOver && turn < patientTurns; turn += 1) await settled();
  const hangsAt = { clockMs: clock.now() + longestWaitMs, realMs: performance.now() + realWaitMs };
  while (!state.isOver && (clock.now() < hangsAt.clockMs || performance.now() < hangsAt.realMs))
    await clock.advance(stepMs);
  if (!state.isOver) throw new Error(otherwise);
  await over;
}
