import { describe, expect, it } from "vitest";

import * as adapters from "../../src/adapters/index.ts";
import {
  type McpClient,
  connectClient,
  openWire,
  TransportMessage,
} from "../../src/entries/client.ts";
import { loadConfig, parseConfig } from "../../src/entries/config.ts";
import { type McpResource, resourceContext } from "../../src/entries/content.ts";
import { requiresMcpConfirmation } from "../../src/entries/permissions.ts";
import { PromptTemplate } from "../../src/entries/prompts.ts";
import {
  buildMcpSkillName,
  isMcpTool,
  makeToolName,
  paramsTypeOf,
  parseToolName,
  toRest,
  toSkillResult,
  toToolResult,
  validateToolArguments,
} from "../../src/entries/tools.ts";
import * as api from "../../src/index.ts";
import { createMemoryServer, createTestServer } from "../../src/testing/index.ts";

// What a program without types may hand over in any place.
const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const values: Readonly<Record<string, unknown>> = {
  null: null,
  undefined,
  "a string": "x",
  "a number": 7,
  "a bigint": 10n,
  "a boolean": true,
  "a symbol": Symbol("s"),
  "a function": () => undefined,
  "a list": [1],
  "an object": {},
  "an object without a prototype": Object.create(null),
  "a cyclic object": cyclic,
};
const plainObjects = ["an object", "an object without a prototype"];
const objects = [...plainObjects, "a cyclic object"];

/** Every value but those named, each with its name. */
function allBut(...names: readonly string[]): readonly (readonly [string, unknown])[] {
  return Object.entries(values).filter(([name]) => !names.includes(name));
}

const noText = allBut("a string");
const noObject = allBut(...objects);
const noOptions = allBut("undefined", ...objects);
const noFunction = allBut("a function");
const noNumber = allBut("undefined", "a number");
const noSignal = allBut("undefined");
const noFlag = allBut("undefined", "a boolean");

type Wrong = readonly (readonly [string, unknown])[];
type Row<T> = readonly [what: string, wrong: Wrong, run: (on: T, value: never) => unknown];

/** What came of it: the error that was thrown, or that the outcome of a call holds. */
async function errorOf(run: () => unknown): Promise<unknown> {
  try {
    const result = await run();
    const outcome = result as { readonly ok?: boolean; readonly error?: unknown } | undefined;
    return outcome?.ok === false ? outcome.error : undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(api.McpError);
    return error;
  }
}

const misuse = expect.stringMatching(/^(?:invalid_arguments|config_invalid)$/) as string;

async function expectMisuse<T>(on: T, [what, wrong, run]: Row<T>): Promise<void> {
  for (const [name, value] of wrong) {
    const error = await errorOf(() => run(on, value as never));
    expect(error, `${what} with ${name}`).toMatchObject({ code: misuse });
  }
}

async function makeHost(): Promise<api.McpHost> {
  const { transport } = createMemoryServer(createTestServer());
  return await api.createHost({ config: false, servers: { t: transport } });
}

const hostOptions: readonly (readonly [string, Wrong])[] = [
  ["cwd", allBut("undefined", "a string")],
  ["home", allBut("undefined", "a string")],
  ["servers", allBut("undefined", "a list", ...objects)],
  ["config", allBut("undefined")],
  ["configFiles", allBut("undefined")],
  ["store", allBut("undefined", "a string")],
  ["watch", noFlag],
  ["startEager", noFlag],
  ["reconnect", noFlag],
  ["demo", noFlag],
  ["naming", allBut("undefined", "a string", "a function")],
  ["limits", noOptions],
  ["human", noOptions],
  ["sampling", allBut("undefined", "a function")],
  ["roots", allBut("undefined", "a list", "a function")],
  ["logger", noOptions],
  ["clock", noOptions],
  ["env", noOptions],
  ["protocolVersion", allBut("undefined", "a string")],
  ["protocolCore", allBut("undefined")],
  ["clientInfo", noOptions],
  ["idGenerator", allBut("undefined", "a function")],
];

describe("CFG-44 ERR-16: wrong types from JavaScript are McpErrors that say what is wrong", () => {
  it("createHost", async () => {
    await expectMisuse(undefined, ["createHost", noOptions, (_, value) => api.createHost(value)]);
    for (const [key, wrong] of hostOptions)
      await expectMisuse(undefined, [
        `createHost ${key}`,
        wrong,
        (_, value) => api.createHost({ config: false, store: false, [key]: value }),
      ]);
    await expect(api.createHost({ cwd: 7 as never })).rejects.toMatchObject({
      code: "config_invalid",
      message: 'createHost: "options.cwd" must be a string',
    });
  });

  const named = [
    "server",
    "disconnect",
    "reconnect",
    "remove",
    "enable",
    "disable",
    "approvalQuestion",
    "requestApproval",
    "approve",
    "revokeApproval",
    "emitTypes",
    "logs",
  ] as const;
  const hostRows: readonly Row<api.McpHost>[] = [
    ...named.map((method): Row<api.McpHost> => [
      `host.${method}`,
      noText,
      (host, value) => host[method](value),
    ]),
    ["host.connect", allBut("a string"), (host, value) => host.connect(value)],
    ["host.connect options", noOptions, (host, value) => host.connect("t", value)],
    ["host.connect signal", noSignal, (host, signal) => host.connect("t", { signal })],
    ["host.connect timeoutMs", noNumber, (host, timeoutMs) => host.connect("t", { timeoutMs })],
    ["host.connect mode", noSignal, (host, mode) => host.connect("t", { mode })],
    ["host.connect shared", noFlag, (host, shared) => host.connect("t", { owner: "a", shared })],
    ["host.disconnect options", noOptions, (host, value) => host.disconnect("t", value)],
    ["host.reconnect options", noOptions, (host, value) => host.reconnect("t", value)],
    ["host.connectAll", noOptions, (host, value) => host.connectAll(value)],
    ["host.add name", noText, (host, value) => host.add(value, { command: "x" })],
    ["host.add entry", allBut(), (host, value) => host.add("new", value)],
    ["host.add options", noOptions, (host, value) => host.add("new", { command: "x" }, value)],
    ["host.add scope", noSignal, (host, scope) => host.add("new", { command: "x" }, { scope })],
    ["host.update name", noText, (host, value) => host.update(value, { command: "x" })],
    ["host.update entry", noObject, (host, value) => host.update("t", value)],
    ["host.importConfig", allBut(), (host, value) => host.importConfig(value)],
    ["host.importConfig from", noText, (host, from) => host.importConfig({ from })],
    ["host.approve options", noOptions, (host, value) => host.approve("t", value)],
    ["host.requestApproval options", noOptions, (host, value) => host.requestApproval("t", value)],
    ["host.registerTools name", noText, (host, value) => host.registerTools(value, [])],
    ["host.registerTools", allBut(), (host, value) => host.registerTools("r", value)],
    ["host.setRoots", allBut("a list", "a function"), (host, value) => host.setRoots(value)],
    ["host.why agent", noText, (host, value) => host.why(value, "x")],
    ["host.why tool", noText, (host, value) => host.why("main", value)],
    ["host.on type", noText, (host, value) => host.on(value, () => undefined)],
    ["host.on handler", noFunction, (host, value) => host.on("*", value)],
    ["host.session", noOptions, (host, value) => host.session(value)],
    [
      "host.session agent",
      allBut("undefined", "a string"),
      (host, agent) => host.session({ agent }),
    ],
    ["host.session human", noOptions, (host, human) => host.session({ human })],
    ["host.session history", noFlag, (host, history) => host.session({ history })],
    ["host.session pending", noSignal, (host, pending) => host.session({ pending })],
  ];

  const noTextOption = allBut("undefined", "a string");
  const grant = { agent: "a", server: "t" };
  const bookRows: readonly Row<api.McpHost>[] = [
    ["grants.list", noOptions, ({ grants }, value) => grants.list(value)],
    ["grants.list agent", noTextOption, ({ grants }, agent) => grants.list({ agent })],
    ["grants.revoke", noOptions, ({ grants }, value) => grants.revoke(value)],
    ["grants.revoke server", noTextOption, ({ grants }, server) => grants.revoke({ server })],
    ["grants.allow", allBut(), ({ grants }, value) => grants.allow(value)],
    ["grants.allow agent", noText, ({ grants }, agent) => grants.allow({ ...grant, agent })],
    ["grants.allow server", noText, ({ grants }, server) => grants.allow({ ...grant, server })],
    ["grants.allow tool", noTextOption, ({ grants }, tool) => grants.allow({ ...grant, tool })],
    [
      "grants.allow includeDestructive",
      noFlag,
      ({ grants }, includeDestructive) => grants.allow({ ...grant, includeDestructive }),
    ],
    [
      "grants.allow expiresAt",
      noNumber,
      ({ grants }, expiresAt) => grants.allow({ ...grant, expiresAt }),
    ],
    ["pins.list", noTextOption, ({ pins }, value) => pins.list(value)],
    ["pins.show server", noText, ({ pins }, value) => pins.show(value, "add")],
    ["pins.show tool", noText, ({ pins }, value) => pins.show("t", value)],
    ["pins.accept server", noText, ({ pins }, value) => pins.accept(value, "add", "f")],
    ["pins.accept tool", noText, ({ pins }, value) => pins.accept("t", value, "f")],
    ["pins.accept fingerprint", noText, ({ pins }, value) => pins.accept("t", "add", value)],
    ["audit.query", noOptions, ({ audit }, value) => audit.query(value)],
    ["audit.query agent", noTextOption, ({ audit }, agent) => audit.query({ agent })],
    ["audit.export", noOptions, ({ audit }, value) => audit.export(value).next()],
  ];

  it("host", async () => {
    await using host = await makeHost();
    for (const row of hostRows) await expectMisuse(host, row);
    expect(host.servers().map(({ name }) => name)).toEqual(["t"]);
  });

  it("host.grants, host.pins and host.audit, and nothing is revoked by a query that is none", async () => {
    await using host = await makeHost();
    await host.grants.allow({ ...grant, tool: "add" });
    for (const row of bookRows) await expectMisuse(host, row);
    expect(host.grants.list()).toMatchObject([{ ...grant, tool: "add" }]);
  });

  const tool = "mcp__t__add";
  const sum = { a: 1, b: 2 };
  const sessionRows: readonly Row<api.Session>[] = [
    ["session.call name", noText, (session, value) => session.call(value)],
    [
      "session.call options",
      noOptions.filter(([name]) => name !== "a list"),
      (session, value) => session.call(tool, sum, value),
    ],
    ["session.call signal", noSignal, (session, signal) => session.call(tool, sum, { signal })],
    [
      "session.call timeoutMs",
      noNumber,
      (session, timeoutMs) => session.call(tool, sum, { timeoutMs }),
    ],
    [
      "session.call onProgress",
      allBut("undefined", "a function"),
      (session, onProgress) => session.call(tool, sum, { onProgress }),
    ],
    [
      "session.call callId",
      allBut("undefined", "a string"),
      (session, callId) => session.call(tool, sum, { callId }),
    ],
    [
      "session.call arguments",
      noObject.filter(([name]) => name !== "undefined"),
      (session, value) => session.call(tool, value),
    ],
    ["session.call argument", allBut("a number"), (session, a) => session.call(tool, { a, b: 1 })],
    ["session.execute name", noText, (session, value) => session.execute(value)],
    ["session.stream name", noText, (session, value) => session.stream(value)],
    ["session.stream options", noOptions, (session, value) => session.stream(tool, sum, value)],
    ["session.dispatch", allBut(), (session, value) => session.dispatch(value)],
    ["session.dispatch name", noText, (session, name) => session.dispatch({ name, input: {} })],
    ["session.find", noText, (session, value) => session.find(value)],
    ["session.why", noText, (session, value) => session.why(value)],
    ["session.ready", noOptions, (session, value) => session.ready(value)],
    [
      "session.ready servers",
      allBut("undefined"),
      (session, servers) => session.ready({ servers }),
    ],
    ["session.section", noOptions, (session, value) => session.section(value)],
    ["session.defineTool", allBut(), (session, value) => session.defineTool(value)],
    ["session.transaction", noFunction, (session, value) => session.transaction(value)],
    ["session.child", noOptions, (session, value) => session.child(value)],
    ["session.on", noFunction, (session, value) => session.on("*", value)],
    ["content.resources", noOptions, (session, value) => session.content.resources(value)],
    ["content.prompts", noOptions, (session, value) => session.content.prompts(value)],
    ["content.readResource", noText, (session, value) => session.content.readResource(value, "x")],
    [
      "content.readResource uri",
      noText,
      (session, value) => session.content.readResource("t", value),
    ],
    [
      "content.watchResource",
      noFunction,
      (session, value) => session.content.watchResource("t", "x", value),
    ],
    ["content.prompt", noText, (session, value) => session.content.prompt("t", value)],
    ["content.complete", noObject, (session, value) => session.content.complete("t", value)],
  ];

  const slice = api.defineSlice("count", 0);
  const stateRows: readonly Row<api.SessionState>[] = [
    ["state.get", noText, (state, value) => state.get(value)],
    ["state.set", noText, (state, value) => state.set(value, 1)],
    [
      "state.set value",
      allBut("null", "a string", "a number", "a boolean", "a list", ...plainObjects),
      (state, value) => state.set(slice, value),
    ],
    ["state.update", noText, (state, value) => state.update(value, () => 1)],
    ["state.update change", noFunction, (state, value) => state.update(slice, value)],
    ["state.delete", noText, (state, value) => state.delete(value)],
    ["state.restore", allBut(...plainObjects), (state, value) => state.restore(value)],
  ];

  it("session.state", async () => {
    await using host = await makeHost();
    const { state } = host.session();
    state.set(slice, 7);
    for (const row of stateRows) await expectMisuse(state, row);
    expect(state.snapshot()).toEqual({ count: 7 });
  });

  it("session", async () => {
    await using host = await makeHost();
    await host.connect("t");
    const session = host.session({ level: "yolo" });
    for (const row of sessionRows) await expectMisuse(session, row);
    expect(await session.call(tool, sum)).toMatchObject({ text: "3" });
  });

  const clientRows: readonly Row<McpClient>[] = [
    ["client.callTool", noText, (client, value) => client.callTool(value)],
    ["client.callTool arguments", noOptions, (client, value) => client.callTool("add", value)],
    [
      "client.callTool argument",
      [
        ["a bigint", 1n],
        ["a cyclic object", cyclic],
      ],
      (client, a) => client.callTool("add", { a }),
    ],
    ["client.callTool options", noOptions, (client, value) => client.callTool("add", sum, value)],
    ["client.listTools", noOptions, (client, value) => client.listTools(value)],
    ["client.readResource", noText, (client, value) => client.readResource(value)],
    ["client.getPrompt", noText, (client, value) => client.getPrompt(value)],
    ["client.ping", noOptions, (client, value) => client.ping(value)],
  ];

  it("connectClient", async () => {
    await expectMisuse(undefined, ["connectClient", allBut(), (_, value) => connectClient(value)]);
    const { transport } = createMemoryServer(createTestServer());
    const keys = ["timeoutMs", "signal", "limits", "logger", "env", "clientInfo", "protocolCore"];
    await expectMisuse(undefined, [
      "options",
      noOptions,
      (_, value) => connectClient(transport, value),
    ]);
    for (const key of [...keys, "protocolVersion", "human", "sampling", "roots"])
      await expectMisuse(undefined, [
        key,
        [
          ["a symbol", Symbol("s")],
          ["null", null],
          ["a boolean", true],
        ],
        (_, value) => connectClient(transport, { [key]: value }),
      ]);
    await using client = await connectClient(transport);
    for (const row of clientRows) await expectMisuse(client, row);
  });

  it("openWire", async () => {
    const { transport } = createMemoryServer(createTestServer());
    await expectMisuse(undefined, ["openWire", allBut(), (_, value) => openWire(value)]);
    await expectMisuse(undefined, ["options", noOptions, (_, value) => openWire(transport, value)]);
    await expectMisuse(undefined, [
      "idGenerator",
      allBut("undefined", "a function"),
      (_, idGenerator) => openWire(transport, { idGenerator }),
    ]);
    await using wire = openWire(transport);
    await wire.connect();
    await expectMisuse(wire, ["sendRequest", noText, (on, value) => on.sendRequest(value)]);
    await expectMisuse(wire, [
      "params",
      noOptions,
      (on, value) => on.sendRequest("tools/list", value),
    ]);
  });

  const resource = { serverName: "t", uri: "x:y", name: "y" } as McpResource;
  const session = { call() {}, find() {}, tools() {}, ready() {} } as unknown as api.Session;
  const section = { key: "s", template: "Text.", acceptsOverrides: true };
  const prompt = { ns: "n", key: "k", sections: [section] };
  const everything = new api.CapabilitySet([{ resource: "mcp:*:*", action: "*" }]);
  const plainRows: readonly Row<undefined>[] = [
    ["TransportMessage.request", noText, (_, value) => TransportMessage.request(value)],
    [
      "TransportMessage.request params",
      noOptions,
      (_, value) => TransportMessage.request("x", value),
    ],
    [
      "TransportMessage.response",
      allBut("a string", "a number"),
      (_, value) => TransportMessage.response(value, {}),
    ],
    [
      "TransportMessage.errorResponse",
      allBut("a number"),
      (_, value) => TransportMessage.errorResponse(1, value, "x"),
    ],
    ["TransportMessage.notification", noText, (_, value) => TransportMessage.notification(value)],
    [
      "TransportMessage.notification params",
      noOptions,
      (_, value) => TransportMessage.notification("x", value),
    ],
    ["TransportMessage.fromJson", noText, (_, value) => TransportMessage.fromJson(value)],
    [
      "TransportMessage.toJson",
      [
        ["a bigint", 1n],
        ["a cyclic object", cyclic],
      ],
      (_, value) => TransportMessage.response(1, value).toJson(),
    ],
    [
      "validateToolArguments options",
      noOptions,
      (_, value) => validateToolArguments({}, {}, value),
    ],
    ["toRest", allBut(), (_, value) => toRest(value)],
    ["toSkillResult", allBut(), (_, value) => toSkillResult(value)],
    ["toToolResult", allBut(), (_, value) => toToolResult(value)],
    ["modelText", allBut(), (_, value) => api.modelText(value)],
    ["errorOfOutcome", allBut(), (_, value) => api.errorOfOutcome(value)],
    ["resourceContext", allBut(), (_, value) => resourceContext(value, [])],
    ["resourceContext contents", allBut(), (_, value) => resourceContext(resource, value)],
    [
      "resourceContext text",
      allBut("undefined", "a string"),
      (_, text) => resourceContext(resource, [{ uri: "x:y", mimeType: undefined, text }]),
    ],
    ["createToolClient", allBut(), (_, value) => api.createToolClient(value, "t", [])],
    ["createToolClient server", noText, (_, value) => api.createToolClient(session, value, [])],
    ["createToolClient tools", allBut(), (_, value) => api.createToolClient(session, "t", value)],
    ["paramsTypeOf", noText, (_, value) => paramsTypeOf(value, { name: "x" })],
    ["paramsTypeOf tool", allBut(), (_, value) => paramsTypeOf("t", value)],
    ["requiresMcpConfirmation", noText, (_, value) => requiresMcpConfirmation("trusted", value)],
    [
      "requiresMcpConfirmation allowances",
      allBut("undefined"),
      (_, value) => requiresMcpConfirmation("trusted", "t", value),
    ],
    ["defineSlice", noText, (_, value) => api.defineSlice(value, 0)],
    [
      "defineSlice initial",
      allBut("null", "undefined", "a string", "a number", "a boolean", "a list", ...plainObjects),
      (_, value) => api.defineSlice("x", value),
    ],
    ["PromptTemplate", allBut(), (_, value) => new PromptTemplate(value)],
    ["PromptTemplate ns", noText, (_, ns) => new PromptTemplate({ ...prompt, ns })],
    ["PromptTemplate key", noText, (_, key) => new PromptTemplate({ ...prompt, key })],
    [
      "PromptTemplate sections",
      allBut(),
      (_, sections) => new PromptTemplate({ ...prompt, sections }),
    ],
    ...(["key", "title", "template", "params", "acceptsOverrides"] as const).map(
      (key): Row<undefined> => [
        `PromptTemplate section ${key}`,
        [
          ["null", null],
          ["a number", 7],
          ["a symbol", Symbol("s")],
          ["a list", [1]],
        ],
        (_, value) => new PromptTemplate({ ...prompt, sections: [{ ...section, [key]: value }] }),
      ],
    ),
    [
      "PromptTemplate section of one's own",
      noFunction,
      (_, render) =>
        new PromptTemplate({
          ...prompt,
          sections: [{ key: "s", params: [], acceptsOverrides: false, render }],
        }),
    ],
    ["PromptTemplate.render", noOptions, (_, value) => new PromptTemplate(prompt).render(value)],
    [
      "PromptTemplate.render options",
      noOptions,
      (_, value) => new PromptTemplate(prompt).render({}, value),
    ],
    [
      "PromptTemplate.render overrides",
      noOptions,
      (_, overrides) => new PromptTemplate(prompt).render({}, { overrides }),
    ],
    [
      "PromptTemplate.render override",
      allBut("undefined", "a string"),
      (_, s) => new PromptTemplate(prompt).render({}, { overrides: { s } }),
    ],
    ["CapabilitySet", allBut("undefined"), (_, value) => new api.CapabilitySet(value)],
    [
      "CapabilitySet.grant terms",
      noOptions,
      (_, value) => new api.CapabilitySet().grant("mcp:t:*", "execute", value),
    ],
    ["CapabilitySet.allows", noText, (_, value) => everything.allows(value, "execute")],
    ["CapabilitySet.reaches", noText, (_, value) => everything.reaches(value, "execute")],
    ["CapabilitySet.attenuate", allBut(), (_, value) => everything.attenuate(value)],
    ["CapabilitySet.attenuate terms", noOptions, (_, value) => everything.attenuate([], value)],
    ["parseConfig options", noOptions, (_, value) => parseConfig({}, value)],
    ...(["provenance", "baseDir", "locate", "maxEntries", "strict", "naming"] as const).map(
      (key): Row<undefined> => [
        `parseConfig ${key}`,
        [
          ["null", null],
          ["a symbol", Symbol("s")],
          ["a list", [1]],
        ],
        (_, value) => parseConfig({}, { [key]: value }),
      ],
    ),
    ["CapabilitySet.grant", noText, (_, value) => new api.CapabilitySet().grant(value)],
    ["loadConfig", allBut(), (_, value) => loadConfig(value)],
    ["parseToolName", noText, (_, value) => parseToolName(value)],
    ["makeToolName", noText, (_, value) => makeToolName(value, "x")],
    ["makeToolName tool", noText, (_, value) => makeToolName("x", value)],
    ["buildMcpSkillName", noText, (_, value) => buildMcpSkillName(value, "x")],
  ];

  type Adapt = (session: api.Session, options: never) => unknown;
  const { runAnthropicCalls, runOpenAiCalls, ...others } = adapters;
  const toolLists: Readonly<Record<string, Adapt>> = others;
  const adapterRows: readonly Row<undefined>[] = [
    ...Object.entries(toolLists).flatMap(([name, adapt]): readonly Row<undefined>[] => [
      [name, allBut(), (_, value) => adapt(value, {} as never)],
      // One of them has an option that is required.
      [
        `${name} options`,
        noOptions.filter(([kind]) => kind !== "undefined"),
        (_, value) => adapt(session, value),
      ],
      [
        `${name} include`,
        allBut("undefined", "a function"),
        (_, include) => adapt(session, { include } as never),
      ],
    ]),
    ["runAnthropicCalls", allBut(), (_, value) => runAnthropicCalls(value, [])],
    ["runAnthropicCalls content", allBut(), (_, value) => runAnthropicCalls(session, value)],
    ["runAnthropicCalls options", noOptions, (_, value) => runAnthropicCalls(session, [], value)],
    ["runOpenAiCalls", allBut(), (_, value) => runOpenAiCalls(value, [])],
    [
      "runOpenAiCalls items",
      allBut("null", "undefined"),
      (_, value) => runOpenAiCalls(session, value),
    ],
    ["runOpenAiCalls options", noOptions, (_, value) => runOpenAiCalls(session, [], value)],
  ];

  it.each(adapterRows)("%s", async (...row) => {
    await expectMisuse(undefined, row);
  });

  it.each(plainRows)("%s", async (...row) => {
    await expectMisuse(undefined, row);
  });

  it("parseConfig tells every wrong type as a problem, and never throws", () => {
    for (const [name, value] of allBut()) {
      const { servers, problems } = parseConfig({ servers: { s: value } });
      expect(servers, name).toEqual([]);
      expect(
        problems.some(({ code }) => code === "config_invalid"),
        name,
      ).toBe(true);
    }
  });

  it("isMcpTool says no", () => {
    for (const [name, value] of noText) expect(isMcpTool(value as never), name).toBe(false);
  });
});
