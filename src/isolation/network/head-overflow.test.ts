import { Socket } from "node:net";

import { expect, test } from "vitest";

import { stopAtOverflow } from "./head-overflow.ts";

test("F5: a head that is too large ends the connection and whatever was reading it", () => {
  const socket = stopAtOverflow(new Socket()).on("error", () => {});
  const error = Object.assign(new Error("too large"), { code: "UND_ERR_HEADERS_OVERFLOW" });
  expect(() => socket.destroy(error)).toThrow(error);
  expect(socket.destroyed).toBe(true);
});

test("F5: a connection that ends for another reason ends quietly", () => {
  const socket = stopAtOverflow(new Socket()).on("error", () => {});
  expect(socket.destroy(new Error("lost"))).toBe(socket);
  expect(stopAtOverflow(new Socket()).destroy().destroyed).toBe(true);
});
