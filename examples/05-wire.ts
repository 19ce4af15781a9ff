// The level of messages: what goes over the wire and what comes back.
import assert from "node:assert/strict";

import { openWire, TransportMessage } from "plugboard/client";
import { testServerEntry } from "plugboard/testing";

const request = TransportMessage.request("tools/list");
console.log(request.toJson().replace(String(request.id), "…"));
const response = TransportMessage.response(request.id ?? "", { tools: [] });
assert.equal(response.isResponse, true);
const parsed = TransportMessage.fromJson('{"jsonrpc":"2.0","result":{"ok":true},"id":"1"}');
assert.deepEqual(parsed.result, { ok: true });

const wire = openWire({ name: "test", ...testServerEntry() }, { timeoutMs: 15_000 });
await wire.connect();
const listed = await wire.sendRequest("tools/list");
console.log((listed.result as { tools: unknown[] }).tools.length);
const answer = await wire.sendRequest("tools/call", { name: "echo", arguments: { message: "hi" } });
console.log(JSON.stringify((answer.result as { content: unknown }).content));
const refused = await wire.sendRequest("tools/call", { name: "unknown", arguments: {} });
console.log(refused.error?.code);
await wire.disconnect();
console.log(wire.connected);

// Output:
// {"jsonrpc":"2.0","method":"tools/list","params":{},"id":"…"}
// 3
// [{"type":"text","text":"hi"}]
// -32602
// false
