import type { Socket } from "node:net";

/**
 * Lets a connection that its peer reset fail like any other broken one. undici takes `ECONNRESET` for
 * the end of a body without a length: it would accept what was cut off as whole, and an assertion of
 * its parser ends the process when reading is paused at that moment.
 */
export function renameReset(socket: Socket): Socket {
  return socket.prependListener("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET") error.code = "ECONNABORTED";
  });
}
