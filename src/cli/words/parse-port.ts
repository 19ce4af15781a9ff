import { createError } from "../../errors/families.ts";

/** A TCP port; `0` lets the system choose. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw createError("invalid_arguments", `"${text.slice(0, 40)}" is no port`, {
    hint: "give a number from 0 to 65535; 0 lets the system choose",
  });
}
