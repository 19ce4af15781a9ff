/**
 * The stream of a single request, for the transport that opens it. Does what an `AbortSignal` does, of
 * which making and hearing is a noticeable part of a whole HTTP call.
 */
export class RequestStream {
  /** Told once, when the stream is no longer wanted. */
  listener: { handleEvent(): void } | undefined;
  /** Said by whoever is told: nothing of the request had left, so the server has never heard of it. */
  isUnsent = false;
  #isAborted = false;

  get isAborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.listener?.handleEvent();
  }
}
