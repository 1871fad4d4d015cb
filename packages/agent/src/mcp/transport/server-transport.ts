import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";

/** The error code of a response that is made in place of the server. */
const NO_RESPONSE = -32000;

/** The transport of one server. Closing it never fails and leaves nothing behind. */
export interface ServerTransport extends Transport {
  /** The reason it is closed, without secrets; empty while it is open. */
  readonly closeReason: string;
  /** Output that may explain a failure, such as stderr, without secrets; empty if there is none. */
  readonly diagnostics: string;
}

/** Nothing can be sent any more: the connection is closed or closing. */
export class TransportClosed extends Error {
  override readonly name = "TransportEnded";
}

/**
 * Delivers the messages of a server to the library one after the other. It tracks pending requests, so that none waits
 * for a response that cannot come.
 */
export class MessageInbox {
  readonly #onMessage: (message: JSONRPCMessage) => void;
  readonly #pending = new Set<RequestId>();
  #delivered: Promise<void> = Promise.resolve();

  constructor(onMessage: (message: JSONRPCMessage) => void) {
    this.#onMessage = onMessage;
  }

  /** Resolves when all messages so far are delivered. */
  get delivered(): Promise<void> {
    return this.#delivered;
  }

  /** Tracks an outgoing request. */
  trackRequest(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message) this.#pending.add(message.id);
  }

  /**
   * Delivers a message. The library (2.4.0) handles a response at once but a notification a moment later, so that progress
   * just before the response would be lost; each message gets that moment before the next one.
   */
  deliver(message: JSONRPCMessage): void {
    if (!("method" in message) && message.id !== undefined) this.#pending.delete(message.id);
    // Expected: the library throws for a message that it does not know.
    this.#delivered = this.#delivered.then(() => this.#onMessage(message)).catch(() => undefined);
  }

  /** Fails these pending requests, or all, in place of the server. */
  failPending(text: string, ids: readonly RequestId[] = [...this.#pending]): void {
    for (const id of ids) {
      if (!this.#pending.has(id)) continue;
      this.deliver({ jsonrpc: "2.0", id, error: { code: NO_RESPONSE, message: text } });
    }
  }
}
