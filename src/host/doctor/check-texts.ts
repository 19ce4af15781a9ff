import { unknownIssuerFix } from "../../transport/http/http-errors.ts";

/** The words of one check, in `plugboard doctor` and in `docs/troubleshooting.md` alike. */
export interface CheckText {
  /** The statement that should be true. */
  readonly title: string;
  /** What to do where it is not; a finding may know something more exact. */
  readonly fix: string;
}

/** Every check by its id; `<server>` stands for the name of the server. */
export const checkTexts = {
  runtime: {
    title: "Node is new enough for Plugboard",
    fix: "install Node 20.19 or newer",
  },
  store: {
    title: "the store opens and belongs to you alone",
    fix: "give the file to yourself alone (chmod 600), and its folder (chmod 700)",
  },
  secrets: {
    title: "secrets lie sealed, and can be opened",
    fix: "give the host what holds the key: its keychain, PLUGBOARD_SECRET_KEY or PLUGBOARD_PASSPHRASE",
  },
  config: {
    title: "the configuration can be read",
    fix: "correct the place that is named; an entry with an error is left out, all others work",
  },
  files: {
    title: "nobody else can write the configuration files",
    fix: "read the file, then take the right to write it from all others: chmod go-w <file>",
  },
  leftovers: {
    title: "no process of an earlier run is left",
    fix: "nothing: the next server that is started ends them",
  },
  enabled: {
    title: "it is switched on",
    fix: "plugboard enable <server>",
  },
  approved: {
    title: "its launch is approved",
    fix: "look at what it would start, and approve it: plugboard approve <server>",
  },
  variables: {
    title: "every variable it refers to is set",
    fix: "export the variable in the shell that starts Plugboard, or write ${NAME:-default}",
  },
  address: {
    title: "its address may be contacted",
    fix: 'correct "url"; an address of a private network needs "allowPrivateNetwork": true',
  },
  command: {
    title: "its command is found",
    fix: 'install it, correct "command", or give its full path',
  },
  node: {
    title: "it runs on a Node that its package supports",
    fix: "install a Node that the package supports, and put it first on the PATH",
  },
  package: {
    title: "it names the release of the package that it runs",
    fix: "write the release behind the name, as in name@1.2.3: another one runs only when you say so",
  },
  proxy: {
    title: "the proxy on the way to its address works",
    fix: "correct HTTPS_PROXY or HTTP_PROXY; NO_PROXY lists what is reached without a proxy",
  },
  reachable: {
    title: "something answers at its address",
    fix: 'start the server, correct host and port of "url", or let the firewall pass',
  },
  tls: {
    title: "its certificate is trusted",
    fix: unknownIssuerFix,
  },
  auth: {
    title: "it accepts your sign-in, or the credentials of the entry",
    fix: 'sign in: plugboard login <server>; or put a valid token into the entry: "auth": { "type": "bearer", "token": "${TOKEN}" }',
  },
  issuer: {
    title: "whoever issues its tokens can be found and answers",
    fix: "let the firewall pass to that host; an issuer that is not found is written as authUrl and tokenUrl into the entry",
  },
  redirect: {
    title: "a browser can return from the sign-in",
    fix: "register exactly the address that is shown; callbackPort of the entry fixes its port, redirectUri the whole of it",
  },
  client: {
    title: "the client is known where tokens are issued",
    fix: "correct clientId and clientSecret in the entry; without them the client is registered anew, where that is possible",
  },
  clock: {
    title: "this machine and the issuer agree on the time",
    fix: "set the clock of this machine, or let it follow a time server",
  },
  "sign-in": {
    title: "the sign-in holds, with all that was asked for",
    fix: "sign in again: plugboard login <server> --force",
  },
  answers: {
    title: "it starts and completes the handshake",
    fix: "look at what it prints: plugboard test <server>",
  },
  tools: {
    title: "it lists tools, and all of them can be used",
    fix: "look at its options: many servers list a tool only when they are told to, or signed in",
  },
  offered: {
    title: "agents are offered its tools",
    fix: "ask for the rule that leaves a tool out: plugboard why <agent> <server>.<tool>",
  },
  calls: {
    title: "its last calls succeeded",
    fix: "compare the arguments with the schema of the tool: plugboard tools <server> --schema",
  },
  log: {
    title: "what it printed last holds no error",
    fix: "correct what the line names; all that it printed: plugboard logs <server>",
  },
} as const satisfies Readonly<Record<string, CheckText>>;

export type CheckId = keyof typeof checkTexts;

/** A list of checks to go through for one symptom. */
export interface Symptom {
  readonly title: string;
  readonly checks: readonly CheckId[];
}

/** What people come with, and what to look at then. */
export const symptoms: readonly Symptom[] = [
  {
    title: "A server does not connect",
    checks: [
      "enabled",
      "approved",
      "variables",
      "command",
      "node",
      "package",
      "address",
      "proxy",
      "reachable",
      "tls",
      "auth",
      "answers",
    ],
  },
  { title: "Tools do not appear", checks: ["answers", "tools", "offered"] },
  { title: "Tool calls fail", checks: ["calls", "log", "auth"] },
  {
    title: "A sign-in does not complete",
    checks: ["issuer", "redirect", "client", "clock", "auth", "sign-in", "secrets"],
  },
  {
    title: "This machine",
    checks: ["runtime", "store", "secrets", "config", "files", "leftovers"],
  },
];
