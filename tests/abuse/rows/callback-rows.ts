import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

import type { PresentPage } from "../../../src/auth/browser/browser-sign-in.ts";
import { McpError } from "../../../src/errors/mcp-error.ts";
import { SignInPlace } from "../../fixtures/oauth/sign-in-place.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { type Figures, type Row, zero } from "../row.ts";

interface Knock {
  readonly method?: string;
  readonly host?: string;
  readonly address: URL;
}

/** Comes to an address as nobody's browser would; gives the status, 0 where nobody listens. */
async function knock({ method = "GET", host, address }: Knock): Promise<number> {
  const sent = request(address, { method, agent: false, ...(host && { headers: { host } }) });
  sent.end();
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return response.statusCode ?? 0;
  } catch {
    return 0;
  }
}

function changed(address: string, change: (url: URL) => void): URL {
  const url = new URL(address);
  change(url);
  return url;
}

/** Everything that is not the answer to this sign-in, with the very code that belongs to it. */
function falseAnswers(real: string): readonly Knock[] {
  const state = new URL(real).searchParams.get("state") ?? "";
  return [
    { address: new URL(real), method: "POST" },
    { address: new URL(real), method: "PUT" },
    { address: new URL(real), host: "evil.example.com" },
    { address: new URL(real), host: `evil.example.com:${new URL(real).port}` },
    { address: changed(real, (url) => url.searchParams.delete("state")) },
    { address: changed(real, (url) => url.searchParams.set("state", "")) },
    { address: changed(real, (url) => url.searchParams.set("state", "other")) },
    { address: changed(real, (url) => url.searchParams.set("state", state.toUpperCase())) },
    { address: changed(real, (url) => url.searchParams.set("state", `${state} `)) },
    { address: changed(real, (url) => url.searchParams.append("state", state)) },
    { address: changed(real, (url) => void (url.pathname = "/")) },
    { address: changed(real, (url) => void (url.pathname = "/callback/")) },
    { address: changed(real, (url) => void (url.pathname = "//callback")) },
  ];
}

async function answerFalsely(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "codes accepted": 0,
    "pages that say yes": 0,
    "sign-ins failed": 0,
    "false answers": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    await using place = await SignInPlace.open({}, {}, product.createHost);
    const { auth, browser } = place;
    const asked = (): number => auth.counts.token.authorization_code ?? 0;
    const host = await place.host();
    let real = "";
    const present: PresentPage = async ({ url }) => {
      real = await browser.walk(url);
      for (const answer of falseAnswers(real)) {
        figures["false answers"] += 1;
        if ((await knock(answer)) === 200) figures["pages that say yes"] += 1;
      }
      figures["codes accepted"] += asked();
      // The right one, and at the same moment once more.
      const both = await Promise.all([real, real].map((text) => knock({ address: new URL(text) })));
      figures["pages that say yes"] += both.filter((status) => status === 200).length - 1;
      return undefined;
    };
    await host.login("app", { present }).catch(() => {
      figures["sign-ins failed"] += 1;
    });
    await knock({ address: new URL(real) });
    figures["codes accepted"] += asked() - 1;
  }
  return figures;
}

/** Takes a port of this machine until it is disposed of. */
async function takePort(port = 0): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

async function takePorts(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "fixed: other ends": 0,
    "chosen: sign-ins failed": 0,
    "pages opened in vain": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    await using place = await SignInPlace.open({}, {}, product.createHost);
    const { browser } = place;
    const { present } = browser;
    {
      await using taken = await takePort();
      const host = await place.host({ callbackPort: taken.port });
      const end: unknown = await host.login("app", { present }).catch((error: unknown) => error);
      const isClear = McpError.is(end, "config_invalid") && /already in use/.test(end.message);
      if (!isClear) figures["fixed: other ends"] += 1;
      figures["pages opened in vain"] += browser.pages.length;
    }
    const host = await place.host();
    await host.login("app", { present });
    const earlier = new URL(browser.pages[0]?.redirectUri ?? "http://none").port;
    await using _taken = await takePort(Number(earlier));
    const again = await host.login("app", { present, force: true }).catch(() => undefined);
    const later = new URL(browser.pages[1]?.redirectUri ?? "http://none").port;
    if (again === undefined || later === earlier) figures["chosen: sign-ins failed"] += 1;
  }
  return figures;
}

export const callbackRows: readonly Row[] = [
  {
    id: "G11",
    trigger: "answers at the callback: no state, another, two; other path, method or Host; replays",
    expected: "refused; only the one right answer is taken, once",
    measured:
      "each with the code of the sign-in that is under way; then the right answer twice at once, and once more afterwards. Accepted: requests at the token endpoint beyond the one",
    criteria: zero("codes accepted", "pages that say yes", "sign-ins failed"),
    servers: {},
    counts: { short: 1, normal: 20, long: 200 },
    attack: answerFalsely,
  },
  {
    id: "G11",
    trigger: "the port of the callback is taken",
    expected: "a clear error where it is fixed, another port where it was chosen",
    measured: "a port of the entry, and the one of an earlier sign-in, are taken by somebody else",
    criteria: zero("fixed: other ends", "chosen: sign-ins failed", "pages opened in vain"),
    servers: {},
    counts: { short: 1, normal: 10, long: 50 },
    attack: takePorts,
  },
];
