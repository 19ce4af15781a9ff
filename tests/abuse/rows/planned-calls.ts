import { setImmediate as nextTurn } from "node:timers/promises";

import type { Lab } from "../lab.ts";
import type { Criterion, Figures } from "../row.ts";
import type { CallEnd } from "../subject.ts";

/** One call and how it must end. */
export interface PlannedCall {
  readonly args?: Readonly<Record<string, unknown>>;
  /** The code of its error, or `ok`. */
  readonly ends: string;
  /** Further conditions on its end. */
  readonly isRight?: (end: CallEnd, nonce: string) => boolean;
}

export interface PlanOptions {
  readonly timeoutMs?: number;
  /** How often the calls of the plan are made; as often as the row says by default. */
  readonly rounds?: number;
  /** Calls of the plan are made together instead of one after another. */
  readonly isParallel?: boolean;
  /** One server after another instead of all at once: what each costs must not add up. */
  readonly isOneByOne?: boolean;
  /** Between the last call and the questions to the server. */
  readonly onCalled?: (() => Promise<void>) | undefined;
}

/** How long a connection may outlive the call it was opened for. */
const lingerMs = 3_000;

/**
 * Makes the calls of the plan to every HTTP server of the row and asks about them: none may have
 * reached one twice, none may still be open, and no connection may outlive the end of the connection.
 */
export async function makeCalls(
  lab: Lab,
  plan: readonly PlannedCall[],
  options: PlanOptions = {},
): Promise<Figures> {
  const { timeoutMs = 4_000, rounds = lab.count, isParallel = false, onCalled } = options;
  let slowestMs = 0;
  let wrongEnds = 0;
  // Large arguments take a while to make: of calls made together, each begins in a turn of its own.
  let lastTurn: Promise<void> = Promise.resolve();
  const nextInLine = (): Promise<void> => (lastTurn = lastTurn.then(() => nextTurn()));
  const callServer = async (server: string): Promise<void> => {
    let made = 0;
    const makeOne = async (planned: PlannedCall): Promise<void> => {
      const nonce = `${server}-${(made += 1)}`;
      const end = await lab.call({ server, args: { ...planned.args, nonce }, timeoutMs });
      if (!isAsPlanned(planned, end, nonce)) wrongEnds += 1;
      if (!end.ok) slowestMs = Math.max(slowestMs, end.tookMs);
    };
    for (let round = 0; round < rounds; round += 1) {
      const begun: Promise<void>[] = [];
      for (const planned of plan) {
        begun.push(makeOne(planned));
        await (isParallel ? nextInLine() : begun.at(-1));
      }
      await Promise.all(begun);
    }
  };
  const servers = lab.siteNames;
  if (options.isOneByOne === true) for (const server of servers) await callServer(server);
  else await Promise.all(servers.map(callServer));
  await onCalled?.();
  const [first = ""] = servers;
  const site = lab.site(first);
  const { calls, repeated, trapped, open } = await site.reportWhen((it) => it.open === 0, lingerMs);
  const areAlive = await Promise.all(servers.map((server) => lab.isAlive(server)));
  await Promise.all(servers.map((server) => lab.subject.disconnect(server)));
  const { sockets } = await site.reportWhen((it) => it.sockets === 0, lingerMs);
  return {
    "max ms to error": slowestMs,
    "wrong ends": wrongEnds,
    "calls sent twice": repeated,
    "trap hits": trapped,
    "answers left open": open,
    "sockets left": sockets,
    "dead afterwards": areAlive.filter((isAlive) => !isAlive).length,
    "calls received": calls,
  };
}

function isAsPlanned({ ends, isRight }: PlannedCall, end: CallEnd, nonce: string): boolean {
  const code = end.ok ? "ok" : end.code;
  return ends === code && isRight?.(end, nonce) !== false;
}

/** The answer of a server that behaves. */
export function isHonest({ text }: CallEnd, nonce: string): boolean {
  return text === `honest ${nonce}`;
}

/** Hold wherever calls are planned. */
export const plannedCriteria: readonly Criterion[] = [
  { figure: "wrong ends", atMost: 0 },
  { figure: "calls sent twice", atMost: 0 },
  { figure: "answers left open", atMost: 0 },
  { figure: "sockets left", atMost: 0 },
  { figure: "dead afterwards", atMost: 0 },
];

export const fast: Criterion = { figure: "max ms to error", atMost: 1_000, isPhysical: true };
