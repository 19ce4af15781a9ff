export type FetchHandler = (request: Request) => Response | Promise<Response>;

/**
 * Answers 413 for a body over `maxBytes`. A declared length is refused unread; a chunked body is
 * counted while it streams, and the answer does not wait for the handler, which sees its body fail.
 */
export async function fetchCapped(
  fetch: FetchHandler,
  request: Request,
  maxBytes: number,
): Promise<Response> {
  // The HTTP parser holds a sender to its declared length, so only chunked bodies need counting.
  const declared = request.headers.get("content-length");
  if (declared !== null) return Number(declared) > maxBytes ? tooLarge(maxBytes) : fetch(request);
  if (!request.headers.has("transfer-encoding") || request.body === null) return fetch(request);

  const body = request.body;
  return new Promise((resolve, reject) => {
    let received = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received += chunk.byteLength;
        if (received <= maxBytes) return controller.enqueue(chunk);
        resolve(tooLarge(maxBytes));
        controller.error(new RangeError(`The body is larger than ${maxBytes} bytes.`));
      },
    });
    const counted = new Request(request.url, {
      method: request.method,
      headers: request.headers,
      body: body.pipeThrough(counter),
      duplex: "half",
      signal: request.signal,
    });
    Promise.resolve(fetch(counted)).then(resolve, reject);
  });
}

function tooLarge(maxBytes: number): Response {
  return new Response(`The body is larger than ${maxBytes} bytes.\n`, { status: 413 });
}
