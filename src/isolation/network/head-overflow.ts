import type { Socket } from "node:net";

/**
 * Makes undici's parser stop at once when the head of a response is too large. By itself it destroys the connection
 * and goes on through the bytes it holds, with a new error for every header in them: thousands of tiny ones held the
 * loop for 70 ms. What is thrown here ends the parsing, and undici takes it for the end of the connection it is.
 */
export function stopAtOverflow(socket: Socket): Socket {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: NodeJS.ErrnoException): Socket => {
    destroy(error);
    if (error?.code === "UND_ERR_HEADERS_OVERFLOW") throw error;
    return socket;
  };
  return socket;
}
