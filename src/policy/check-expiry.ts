import { createError } from "../errors/families.ts";

/**
 * Throws `config_invalid` for an end that is no time: read as "no end", a date that could not be parsed
 * would be a right for ever.
 */
export function checkExpiry(expiresAt: unknown): void {
  if (expiresAt === undefined || (typeof expiresAt === "number" && !Number.isNaN(expiresAt)))
    return;
  throw createError("config_invalid", "a right cannot end at what is no time", {
    hint: "expiresAt is a number: milliseconds since the epoch",
  });
}
