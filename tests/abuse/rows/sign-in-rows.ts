import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import { inspect } from "node:util";

import type { PresentPage } from "../../../src/auth/browser/browser-sign-in.ts";
import { McpError } from "../../../src/errors/mcp-error.ts";
import { openUrl } from "../../../src/isolation/open-url.ts";
import type { AuthorizationAttack } from "../../../src/testing/index.ts";
import { echo, SignInPlace } from "../../fixtures/oauth/sign-in-place.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { calmCriteria, type Figures, type Row, zero } from "../row.ts";

/** An address that nobody may reach, whoever names it. */
const trapAddress = "169.254.169.254";
/** How long a person waits for a browser that never comes back. */
const lostAfterMs = 1_500;
const markup = /<script|<img/i;
const escape = "\u001b";

/** What came of one hostile sign-in. */
interface Walk {
  readonly place: SignInPlace;
  /** The code of the error; `signed in` where there was none. */
  readonly end: string;
  readonly failure: unknown;
  readonly tookMs: number;
  readonly tokenRequests: number;
  readonly trapHits: number;
  readonly isKept: boolean;
}

interface WalkOptions {
  readonly present?: PresentPage;
  readonly oauthTimeoutMs?: number | undefined;
}

/** A person signs in where the server or its issuer is hostile in one way. */
async function walk(
  product: Product,
  attack: AuthorizationAttack,
  { present, oauthTimeoutMs }: WalkOptions = {},
): Promise<Walk & AsyncDisposable> {
  const trapUrl = attack.startsWith("ssrf") ? `https://${trapAddress}/` : undefined;
  const place = await SignInPlace.open({ attack, trapUrl }, {}, product.createHost);
  const limits = oauthTimeoutMs === undefined ? {} : { limits: { oauthTimeoutMs } };
  const host = await place.host(undefined, limits);
  const dialled = watchDials();
  const startedAt = performance.now();
  const options = { present: present ?? place.browser.present, timeoutMs: lostAfterMs };
  let failure: unknown;
  await host.login("app", options).catch((error: unknown) => {
    failure = error;
  });
  const tookMs = performance.now() - startedAt;
  dialled.stop();
  const { token } = place.auth.counts;
  return {
    place,
    end: McpError.is(failure) ? failure.code : failure === undefined ? "signed in" : "untyped",
    failure,
    tookMs,
    tokenRequests: Object.values(token).reduce((sum, count) => sum + count, 0),
    trapHits: place.auth.trapRequests.length + dialled.count,
    isKept: (await host.signIn("app")) !== undefined,
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** Counts attempts of this process to reach the trap, also in vain. */
function watchDials(): { readonly count: number; stop(): void } {
  let count = 0;
  const watch = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.on("connectionAttempt", (address: string) => {
      if (address === trapAddress) count += 1;
    });
  };
  subscribe("net.client.socket", watch);
  return {
    get count() {
      return count;
    },
    stop: () => unsubscribe("net.client.socket", watch),
  };
}

type Ends = Readonly<Partial<Record<AuthorizationAttack, string>>>;

/** Attacks that show themselves only after the person agreed. No page is opened for any other. */
const afterPage = /^(?:redirect-token|mixup|iss-(?:missing|normalized)|state-|error-html|token-)/;

/** Walks through all attacks; counts other ends than they must have, pages for nothing, and sign-ins that were kept. */
async function walkAll(
  lab: Lab,
  product: Product,
  ends: Ends,
  { look, ...options }: WalkOptions & { readonly look?: (walk: Walk) => void },
): Promise<Figures> {
  const figures = { "other ends": 0, "pages too many": 0, "sign-ins kept": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const [attack, expected] of Object.entries(ends)) {
      await using one = await walk(product, attack as AuthorizationAttack, options);
      lab.ends.set(one.end, (lab.ends.get(one.end) ?? 0) + 1);
      if (one.end !== expected) figures["other ends"] += 1;
      if (one.isKept) figures["sign-ins kept"] += 1;
      const pages = one.place.browser.pages.length;
      figures["pages too many"] += Math.max(0, pages - Number(afterPage.test(attack)));
      look?.(one);
    }
  return figures;
}

/** The short form waits for less than a person would. */
function patience({ form }: Lab): WalkOptions {
  return { oauthTimeoutMs: form === "short" ? 500 : undefined };
}

async function leadToTrap(lab: Lab, product: Product): Promise<Figures> {
  let hits = 0;
  const ends: Ends = {
    "ssrf-resource-metadata": "blocked_address",
    "ssrf-authorization-server": "blocked_address",
    "ssrf-endpoints": "blocked_address",
    "redirect-metadata": "auth_endpoint_unreachable",
    "redirect-resource-metadata": "auth_endpoint_unreachable",
    "redirect-token": "auth_endpoint_unreachable",
  };
  const look = ({ trapHits }: Walk): void => {
    hits += trapHits;
  };
  const figures = await walkAll(lab, product, ends, { look });
  return { ...figures, "trap hits": hits };
}

async function overload(lab: Lab, product: Product): Promise<Figures> {
  let slowestMs = 0;
  const unreachable = "auth_endpoint_unreachable";
  const ends: Ends = {
    "huge-metadata": unreachable,
    "huge-resource-metadata": unreachable,
    "slow-metadata": unreachable,
    "slow-resource-metadata": unreachable,
    "trickle-metadata": unreachable,
    "trickle-resource-metadata": unreachable,
  };
  const look = ({ tookMs }: Walk): void => {
    slowestMs = Math.max(slowestMs, tookMs);
  };
  const figures = await walkAll(lab, product, ends, { look, ...patience(lab) });
  return { ...figures, "max s until refused": slowestMs / 1_000 };
}

/** A program that writes down what it is started with, in the place of a browser. */
function stubOpener(folder: string): {
  readonly present: PresentPage;
  argv(): readonly string[][];
} {
  const file = path.join(folder, "browser");
  const record = `${file}.argv`;
  const line = `require("fs").appendFileSync(${JSON.stringify(record)}, JSON.stringify(process.argv.slice(2)) + "\\n")`;
  writeFileSync(file, `#!${process.execPath}\n${line}\n`);
  chmodSync(file, 0o700);
  const where = { env: { PATH: process.env["PATH"], BROWSER: file }, cwd: "/" };
  return {
    present: async ({ url }) => {
      const opened = await openUrl(url, { ...where, platform: process.platform });
      if (!opened.ok) throw new Error(opened.reason);
      return undefined;
    },
    argv: () =>
      existsSync(record)
        ? readFileSync(record, "utf8")
            .trimEnd()
            .split("\n")
            .map((text) => JSON.parse(text) as string[])
        : [],
  };
}

async function openStrangeThings(lab: Lab, product: Product): Promise<Figures> {
  await using own = await SignInPlace.open();
  const opener = stubOpener(own.home);
  const { present } = opener;
  const ends: Ends = {
    "js-url": "auth_failed",
    "file-url": "auth_failed",
    "flag-url": "auth_failed",
    "http-endpoints": "auth_failed",
  };
  const figures = await walkAll(lab, product, ends, { present });
  const runs = opener.argv().length;
  let shown = "";
  await using shell = await walk(product, "cmd-url", {
    present: async (page, options) => {
      shown = page.url;
      return await present(page, options);
    },
  });
  const argv = opener.argv().slice(runs);
  return {
    ...figures,
    "other ends": (figures["other ends"] ?? 0) + Number(shell.end !== "timeout"),
    "opener runs": runs,
    "words other than the address":
      Math.abs(argv.length - 1) +
      argv.filter(([word, ...more]) => word !== shown || more.length > 0).length,
    "commands run": Number(existsSync("plugboard-was-here")),
  };
}

async function offerNoProof(lab: Lab, product: Product): Promise<Figures> {
  let requests = 0;
  const ends: Ends = { "no-pkce": "auth_failed", "plain-pkce": "auth_failed" };
  const look = ({ place }: Walk): void => {
    requests += place.auth.counts.authorize + place.browser.pages.length;
  };
  const figures = await walkAll(lab, product, ends, { look });
  return { ...figures, "authorize requests": requests };
}

async function answerForOthers(lab: Lab, product: Product): Promise<Figures> {
  let requests = 0;
  const ends: Ends = {
    "issuer-mismatch": "auth_failed",
    "resource-mismatch": "auth_failed",
    mixup: "auth_failed",
    "iss-missing": "auth_failed",
    "iss-normalized": "auth_failed",
    "state-forge": "timeout",
    "state-missing": "timeout",
  };
  const look = ({ tokenRequests }: Walk): void => {
    requests += tokenRequests;
  };
  const figures = await walkAll(lab, product, ends, { look });
  return { ...figures, "token requests": requests };
}

async function answerWithMarkup(lab: Lab, product: Product): Promise<Figures> {
  const found = { "script in a page": 0, "ESC in a page or an error": 0 };
  const ends: Ends = {
    "error-html": "auth_failed",
    "token-error-html": "auth_endpoint_unreachable",
    "token-error-text": "auth_failed",
  };
  const look = ({ place, failure }: Walk): void => {
    const pages = place.browser.ends.map(({ text }) => text);
    const said = McpError.is(failure)
      ? [failure.message, failure.hint ?? "", ...Object.values(failure.details).map(String)]
      : [inspect(failure)];
    found["script in a page"] += pages.filter((text) => markup.test(text)).length;
    found["ESC in a page or an error"] += [...pages, ...said].filter((text) =>
      text.includes(escape),
    ).length;
  };
  const figures = await walkAll(lab, product, ends, { look });
  return { ...figures, ...found };
}

async function demandMore(lab: Lab, product: Product): Promise<Figures> {
  const figures = { prompts: 0, refreshes: 0, "scopes not shown": 0 };
  for (const attack of ["401-loop", "stepup-loop"] as const) {
    await using place = await SignInPlace.open({ attack }, {}, product.createHost);
    const host = await place.host();
    for (let round = 0; round < lab.count; round += 1) {
      await host.login("app", place.browser).catch(() => undefined);
      await echo(host);
    }
    figures.prompts = Math.max(figures.prompts, place.browser.pages.length);
    const { refresh_token: refreshes = 0 } = place.auth.counts.token;
    figures.refreshes = Math.max(figures.refreshes, refreshes);
  }
  const scopes = ["mcp", "files"];
  await using greedy = await SignInPlace.open(
    { attack: "scope-greed", scopes },
    { scopes: ["mcp"] },
    product.createHost,
  );
  const greedyHost = await greedy.host();
  const granted = await greedyHost.login("app", greedy.browser).catch(() => undefined);
  const asked = new URL(greedy.browser.pages[0]?.url ?? "http://none").searchParams.get("scope");
  const pageScopes = new Set(greedy.browser.pages[0]?.scopes);
  figures["scopes not shown"] += (asked ?? "none")
    .split(" ")
    .filter((scope) => !pageScopes.has(scope)).length;
  if (granted?.scopes.includes("admin") !== true) figures["scopes not shown"] += 1;
  await using short = await SignInPlace.open(
    { attack: "scope-short", scopes },
    { scopes },
    product.createHost,
  );
  const shortHost = await short.host();
  const { missingScopes = [] } = (await shortHost.login("app", short.browser)) ?? {};
  if (missingScopes.join(" ") !== "files") figures["scopes not shown"] += 1;
  return figures;
}

async function giveJunk(lab: Lab, product: Product): Promise<Figures> {
  let injections = 0;
  const ends: Ends = {
    "token-junk-crlf": "auth_failed",
    "token-junk-spaces": "auth_failed",
    "token-junk-huge": "auth_endpoint_unreachable",
    "token-junk-object": "auth_failed",
    "token-junk-missing": "auth_failed",
    "token-junk-type": "auth_failed",
    "token-junk-lifetime": "auth_failed",
  };
  const look = ({ place }: Walk): void => {
    const { requests } = place.server;
    injections += requests.filter(({ headers }) => "x-injected" in headers).length;
    injections += requests.filter(({ headers }) => "authorization" in headers).length;
  };
  const figures = await walkAll(lab, product, ends, { look });
  return { ...figures, "header injections": injections };
}

const refused = zero("other ends", "pages too many", "sign-ins kept");
const walks = { servers: {}, counts: { short: 1, normal: 1, long: 10 } } as const;

export const signInRows: readonly Row[] = [
  {
    ...walks,
    id: "G1",
    trigger: "metadata, issuers and endpoints that lead to a trap, also by redirect",
    expected: "refused; nothing is dialled",
    measured:
      "requests at the trap, and attempts of this process to reach the address of cloud metadata",
    criteria: [...refused, ...zero("trap hits")],
    attack: leadToTrap,
  },
  {
    ...walks,
    id: "G2",
    trigger: "metadata of 50 MB, metadata that never comes, or byte by byte",
    expected: "refused after 256 KiB or 10 s",
    measured:
      "the longest sign-in, which reads such a document twice: when the server refuses the first request, and when the person signs in; and by how much the process grew, the hostile server included",
    criteria: [
      ...refused,
      { figure: "max s until refused", atMost: 22, isPhysical: true },
      ...calmCriteria,
    ],
    counts: { short: 1, normal: 1, long: 3 },
    attack: overload,
  },
  {
    ...walks,
    id: "G3",
    trigger: "pages that are scripts, files, options of a program, plain http, or shell code",
    expected: "refused before anything is opened; one word where it is a page",
    measured: "a program in the place of the browser writes down what it is started with",
    criteria: [...refused, ...zero("opener runs", "words other than the address", "commands run")],
    attack: openStrangeThings,
  },
  {
    ...walks,
    id: "G4",
    trigger: "an issuer without PKCE, or with PKCE without a hash",
    expected: "refused; no page is asked for",
    measured: "pages that were opened, and requests at the authorization endpoint",
    criteria: [...refused, ...zero("authorize requests")],
    attack: offerNoProof,
  },
  {
    ...walks,
    id: "G5",
    trigger: "another issuer, resource or state than the one that was asked for",
    expected: "refused before the code is used",
    measured: "requests at the token endpoint",
    criteria: [...refused, ...zero("token requests")],
    attack: answerForOthers,
  },
  {
    ...walks,
    id: "G6",
    trigger: "errors with markup and escape sequences",
    expected: "escaped in the page, harmless in the error",
    measured: "what the browser shows at the end, and every text of the error",
    criteria: [...refused, ...zero("script in a page", "ESC in a page or an error")],
    attack: answerWithMarkup,
  },
  {
    id: "G7",
    trigger: "a server that is never content: 401 for ever, one more scope for ever, all scopes",
    expected: "a person is asked twice at most; what is granted is shown",
    measured: "so many times a person tries to sign in and an agent calls",
    criteria: [
      { figure: "prompts", atMost: 2 },
      { figure: "refreshes", atMost: 2 },
      ...zero("scopes not shown"),
    ],
    servers: {},
    counts: { short: 6, normal: 20, long: 100 },
    attack: demandMore,
  },
  {
    ...walks,
    id: "G8",
    trigger: "tokens with line breaks and spaces, of 1 MB, of other types, without a lifetime",
    expected: "rejected, nothing is kept or sent",
    measured: "requests of the server that carry a token or a header of the token",
    criteria: [...refused, ...zero("header injections")],
    attack: giveJunk,
  },
];
