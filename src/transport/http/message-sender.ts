import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import { answeredId } from "../reading/message-ids.ts";
import type { HttpClient } from "./http-client.ts";
import { MessagePost, type PostContext, type SendMode } from "./message-post.ts";

/** Sends the messages of one transport, each in a POST of its own, and keeps those under way. */
export class MessageSender implements PostContext {
  /** How the messages that follow travel. */
  mode: SendMode;
  readonly client: HttpClient;
  readonly #open = new OpenPosts<MessagePost>();

  constructor(client: HttpClient, mode: SendMode = {}) {
    this.client = client;
    this.mode = mode;
  }

  /**
   * Settles with the fate of the message: for a request it resolves once the answer was delivered and
   * rejects with an `McpError` when no answer can come any more. Nothing is ever sent twice.
   */
  send(message: JSONRPCMessage, options: SendOptions | undefined): Promise<void> {
    if (!this.client.isOpen) return Promise.reject(this.client.notOpen());
    return new Promise((resolve, reject) => {
      const body = options?.text ?? this.client.stringify(message);
      const post = new MessagePost(this, message, options);
      this.#open.add(post);
      post.run(body, (failure) => {
        this.#open.delete(post);
        if (failure === undefined) resolve();
        else reject(failure);
      });
    });
  }

  isOpen(id: unknown): boolean {
    return this.#open.find(id) !== undefined;
  }

  /** Settles the requests that a message, or one of a batch, answers on a stream of another request. */
  answeredElsewhere(received: object | undefined): void {
    for (const message of Array.isArray(received) ? received : [received])
      this.#open.find(answeredId(message))?.answeredElsewhere();
  }

  /** Ends one request with `reason` unless it is over. Returns whether none of its bytes had left. */
  cancel(id: unknown, reason: McpError): boolean {
    const post = this.#open.find(id);
    if (post === undefined) return false;
    const { isUnsent } = post;
    post.cancel(reason);
    return isUnsent;
  }

  cancelAll(reason: McpError): void {
    for (const post of this.#open.all()) post.cancel(reason);
  }
}

/** A message under way; `OpenPosts` sets its neighbours. */
export interface OpenPost<Post> {
  readonly id: string | number | undefined;
  previous: Post | undefined;
  next: Post | undefined;
}

/**
 * The messages under way, oldest first. It is searched from the beginning: a search by id is rare, and
 * there are as many messages as the program has calls in flight. A linked list and not a `Set`, because
 * one that is filled and emptied all the time costs about 1 µs of garbage collection a call.
 */
export class OpenPosts<Post extends OpenPost<Post>> {
  #first: Post | undefined;
  #last: Post | undefined;

  add(post: Post): void {
    post.previous = this.#last;
    if (this.#last === undefined) this.#first = post;
    else this.#last.next = post;
    this.#last = post;
  }

  /** Does nothing for a message that is not under way. */
  delete(post: Post): void {
    const { previous, next } = post;
    if (previous === undefined && this.#first !== post) return;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A message that is done must not keep others alive.
    post.previous = undefined;
    post.next = undefined;
  }

  find(id: unknown): Post | undefined {
    if (id === undefined) return undefined;
    let post = this.#first;
    while (post !== undefined && post.id !== id) post = post.next;
    return post;
  }

  all(): readonly Post[] {
    const posts: Post[] = [];
    for (let post = this.#first; post !== undefined; post = post.next) posts.push(post);
    return posts;
  }
}
