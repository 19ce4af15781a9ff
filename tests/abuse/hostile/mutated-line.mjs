// @ts-check
/**
 * @typedef {object} Context what a line may refer to
 * @property {string | number} id of the request it follows
 * @property {string | number} otherId of another request, open or not
 * @property {string} text of the right answer
 *
 * @typedef {object} Mutation
 * @property {MutationName} name
 * @property {number} where position in the line, from 0 to 1
 * @property {number} salt which of several possibilities
 *
 * @typedef {object} LineScript one line a server might have sent, and what became of it on the way
 * @property {number} message which of the valid messages
 * @property {readonly Mutation[]} mutations
 *
 * @typedef {object} CallScript what a call gets to hear
 * @property {readonly LineScript[]} lines
 * @property {boolean} isAnswered whether the right answer follows them
 */

/** Valid messages of a server's side of a conversation. @type {readonly ((context: Context) => object)[]} */
const validMessages = [
  ({ id, text }) => ({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } }),
  ({ id, text }) => ({
    jsonrpc: "2.0",
    id,
    result: {
      content: [
        { type: "text", text },
        { type: "image", data: "aGVsbG8=", mimeType: "image/png" },
        { type: "resource_link", uri: "file:///ü/𝄞", name: "naïve 𝄞" },
      ],
      structuredContent: { list: [1, -2.5, 1e21, null, true], empty: {} },
      _meta: { "example.com/key": "value" },
    },
  }),
  ({ id }) => ({ jsonrpc: "2.0", id, result: { content: [], isError: true } }),
  ({ id }) => ({
    jsonrpc: "2.0",
    id,
    error: { code: -32_602, message: "Invalid params", data: { reason: "no" } },
  }),
  ({ otherId, text }) => ({
    jsonrpc: "2.0",
    id: otherId,
    result: { content: [{ type: "text", text }] },
  }),
  ({ id }) => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: id, progress: 0.5, total: 1, message: "half" },
  }),
  () => ({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "info", logger: "a", data: { text: "b" } },
  }),
  () => ({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }),
  ({ id }) => ({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: id, reason: "no" },
  }),
  () => ({ jsonrpc: "2.0", id: 1, method: "ping" }),
  () => ({
    jsonrpc: "2.0",
    id: "s-1",
    method: "sampling/createMessage",
    params: { messages: [], maxTokens: 1 },
  }),
  () => ({ jsonrpc: "2.0", id: null, error: { code: -32_700, message: "Parse error" } }),
  ({ id }) => ({
    jsonrpc: "2.0",
    id,
    result: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "mutated", version: "1.0.0" },
    },
  }),
  ({ id }) => ({
    jsonrpc: "2.0",
    id,
    result: {
      tools: [{ name: "attack", description: "d", inputSchema: { type: "object" } }],
      nextCursor: "more",
    },
  }),
];

export const messageCount = validMessages.length;

/** Values of every type, as JSON text. */
const foreignValues = [
  "null",
  "true",
  "0",
  "-1",
  "1e400",
  "9007199254740993",
  "0.1",
  '""',
  '"2.0"',
  '"1"',
  "[]",
  "[[]]",
  "{}",
  '{"__proto__":{"polluted":"yes"}}',
  '"\\ud800"',
  '"\\u0000\\u001b[31m"',
  `"${"x".repeat(3_000)}"`,
];

/** Bytes that are not UTF-8, or not what they seem. */
const oddBytes = [
  [0xff],
  [0xc3, 0x28],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f],
  [0x00],
  [0xef, 0xbb, 0xbf],
  [0xe2, 0x80, 0xa8],
  [0x0d],
  [0x0d, 0x0a],
  [0x0a],
  [0x0a, 0x0a],
  [0x1b, 0x5b, 0x32, 0x4a],
].map((bytes) => Buffer.from(bytes));

/** @template T @param {readonly T[]} list @param {number} salt */
function pick(list, salt) {
  return /** @type {T} */ (list[salt % list.length]);
}

/**
 * Changes one member of the message, however deep. What is no longer JSON stays as it is.
 *
 * @param {Buffer} bytes
 * @param {number} where
 * @param {(member: string, key: string) => string} change gets and returns JSON text, as `"key":value`
 */
function changeMember(bytes, where, change) {
  const text = bytes.toString("utf8");
  // A member ends at the comma or bracket after a plain value; one with a structure keeps its rest.
  const members = [...text.matchAll(/"([^"\\]{1,40})":("[^"\\]*"|[^[{,}\]\s]+|[[{])/g)];
  if (members.length === 0) return bytes;
  const match = members[Math.floor(where * members.length)];
  if (match?.index === undefined) return bytes;
  const [member, key = ""] = match;
  const end = match.index + member.length;
  return Buffer.from(text.slice(0, match.index) + change(member, key) + text.slice(end));
}

/** @param {Buffer} bytes @param {number} at @param {number} end @param {Uint8Array} replacement */
function splice(bytes, at, end, replacement) {
  return Buffer.concat([bytes.subarray(0, at), replacement, bytes.subarray(end)]);
}

/** @param {Buffer} bytes @param {number} where */
function position(bytes, where) {
  return Math.floor(where * bytes.length);
}

/**
 * @callback Mutate
 * @param {Buffer} bytes
 * @param {number} where
 * @param {number} salt
 * @returns {Buffer}
 */

const table = {
  /** @type {Mutate} */
  flipBit(bytes, where, salt) {
    const changed = Buffer.from(bytes);
    const at = position(bytes, where);
    changed[at] = (changed[at] ?? 0) ^ (1 << (salt % 8));
    return changed;
  },
  /** Without its newline, so that the next line is merged with what is left. @type {Mutate} */
  truncate: (bytes, where) => bytes.subarray(0, position(bytes, where)),
  /** @type {Mutate} */
  mergeWithNext: (bytes) => bytes.subarray(0, -1),
  /** @type {Mutate} */
  dropBytes: (bytes, where, salt) =>
    splice(
      bytes,
      position(bytes, where),
      position(bytes, where) + 1 + (salt % 20),
      Buffer.alloc(0),
    ),
  /** @type {Mutate} */
  insertBytes: (bytes, where, salt) =>
    splice(bytes, position(bytes, where), position(bytes, where), pick(oddBytes, salt)),
  /** @type {Mutate} */
  splitLine: (bytes, where) =>
    splice(bytes, position(bytes, where), position(bytes, where), Buffer.from("\n")),
  /** @type {Mutate} */
  crlf: (bytes) => splice(bytes, bytes.length - 1, bytes.length, Buffer.from("\r\n")),
  /** @type {Mutate} */
  repeatLine: (bytes, _where, salt) =>
    Buffer.concat(Array.from({ length: 2 + (salt % 3) }, () => bytes)),
  /** @type {Mutate} */
  asBatch: (bytes, _where, salt) => {
    const line = bytes.toString("utf8").trimEnd();
    return Buffer.from(`[${Array.from({ length: salt % 4 }, () => line).join(",")}]\n`);
  },
  /** @type {Mutate} */
  duplicateKey: (bytes, where, salt) =>
    changeMember(bytes, where, (member, key) => `"${key}":${pick(foreignValues, salt)},${member}`),
  /** @type {Mutate} */
  shadowKey: (bytes, where, salt) =>
    changeMember(bytes, where, (member, key) =>
      /[[{]$/.test(member) ? member : `${member},"${key}":${pick(foreignValues, salt)}`,
    ),
  /** @type {Mutate} */
  wrongType: (bytes, where, salt) =>
    changeMember(bytes, where, (member, key) =>
      /[[{]$/.test(member)
        ? `"${key}":${pick(foreignValues, salt)},"rest":${member.at(-1)}`
        : `"${key}":${pick(foreignValues, salt)}`,
    ),
  /** @type {Mutate} */
  renameKey: (bytes, where, salt) =>
    changeMember(bytes, where, (member, key) => {
      const name = pick(["__proto__", "constructor", "method", "error", "result", "id", ""], salt);
      return `"${name}"${member.slice(key.length + 2)}`;
    }),
  /** Around the limit of nesting and far over it. @type {Mutate} */
  nest: (bytes, where, salt) =>
    changeMember(bytes, where, (member, key) => {
      if (/[[{]$/.test(member)) return member;
      const depth = pick([1, 190, 198, 201, 5_000], salt);
      const value = member.slice(key.length + 3);
      return `"${key}":${"[".repeat(depth)}${value}${"]".repeat(depth)}`;
    }),
};

/** @typedef {keyof typeof table} MutationName */

export const mutationNames = /** @type {MutationName[]} */ (Object.keys(table));

/**
 * The bytes of a line, its newline included unless a mutation took it.
 *
 * @param {LineScript} script
 * @param {Context} context
 * @returns {Buffer}
 */
export function renderLine({ message, mutations }, context) {
  const valid = pick(validMessages, message)(context);
  /** @type {Buffer} */
  let bytes = Buffer.from(`${JSON.stringify(valid)}\n`);
  for (const { name, where, salt } of mutations) bytes = table[name](bytes, where, salt);
  return bytes;
}
