// Loaded into the servers of these tests before their own code: they reach this machine and nothing else, so that no
// test depends on what a service answers, and none tells one that it ran.
const net = require("node:net");

const { prototype } = net.Socket;
const { value: connect } = Object.getOwnPropertyDescriptor(prototype, "connect");
const local = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

prototype.connect = function connectLocally(...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof first === "object" && first !== null ? first.host : args[1];
  const isPath = typeof first === "string" || typeof first?.path === "string";
  if (isPath || host === undefined || local.test(host)) return Reflect.apply(connect, this, args);
  const error = Object.assign(new Error(`connect ENETUNREACH ${host}`), { code: "ENETUNREACH" });
  process.nextTick(() => this.destroy(error));
  return this;
};
