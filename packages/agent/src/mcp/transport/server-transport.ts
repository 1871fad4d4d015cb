import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";

/** The code of an answer that is given in place of the server. */
const NOT_ANSWERED = -32000;

/** What carries the messages to and from one server. Closing it never fails and leaves nothing behind. */
export interface ServerTransport extends Transport {
  /** How it came to its end, for people and without secrets; empty while it is open. */
  readonly closeReason: string;
  /** What else may help to understand a failure, likewise; empty if there is nothing. */
  readonly diagnostics: string;
}

/** Nothing can be sent any more: the connection ended, or is ending. */
export class TransportClosed extends Error {
  override readonly name = "TransportEnded";
}

/**
 * The messages of a server on their way to the library, one after the other. It knows which requests still have to be
 * answered, so that none waits for an answer that cannot come.
 */
export class MessageInbox {
  readonly #open: (message: JSONRPCMessage) => void;
  readonly #unanswered = new Set<RequestId>();
  #delivered: Promise<void> = Promise.resolve();

  constructor(open: (message: JSONRPCMessage) => void) {
    this.#open = open;
  }

  /** Resolves when all that came so far was delivered. */
  get delivered(): Promise<void> {
    return this.#delivered;
  }

  /** Remembers a request on its way out. */
  trackRequest(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message) this.#unanswered.add(message.id);
  }

  /**
   * Takes a message. The library (2.4.0) handles an answer at once but a notification a moment later, so that progress
   * which came just before the answer would be lost; each message gets that moment before the next one.
   */
  deliver(message: JSONRPCMessage): void {
    if (!("method" in message) && message.id !== undefined) this.#unanswered.delete(message.id);
    // Expected: complaints of the library about a message that means nothing to it. The next one may.
    this.#delivered = this.#delivered.then(() => this.#open(message)).catch(() => undefined);
  }

  /** Answers these requests, or all, in place of the server, unless they are answered already. */
  failPending(text: string, ids: readonly RequestId[] = [...this.#unanswered]): void {
    for (const id of ids) {
      if (!this.#unanswered.has(id)) continue;
      this.deliver({ jsonrpc: "2.0", id, error: { code: NOT_ANSWERED, message: text } });
    }
  }
}
