import { type Clock, SYSTEM_CLOCK } from "@flint/core/ports";
import type { ThreadEvent } from "@flint/protocol";
import { CODEX } from "@flint/protocol/codex";
import { type Encoded, Encoder } from "../shared/encoder.ts";
import type { Client, ClientHandler, Frontend } from "../shared/frontend.ts";
import { CodexClientHandler } from "./client-handler.ts";
import { type CodexMessage, messagesOf } from "./events/events.ts";
import { DeclinedItems } from "./events/items.ts";
import { type CodexHost, NO_HOST } from "./host/host.ts";
import { encodeNotification } from "./wire/encoding.ts";
import { RequestedPolicies } from "./wire/policies.ts";

export type { CodexHost, HostFile } from "./host/host.ts";

/** The protocol of the Codex app-server, with any agent behind it. */
export function codexFrontend(host: CodexHost = NO_HOST, clock: Clock = SYSTEM_CLOCK): Frontend {
  return new CodexFrontend(host, clock);
}

class CodexFrontend implements Frontend {
  readonly vocabulary = CODEX;
  readonly initializeFirst = true;
  readonly reading = { params: "any", ids: "plain" } as const;
  readonly #host: CodexHost;
  readonly #clock: Clock;
  readonly #policies = new RequestedPolicies();
  readonly #declined = new DeclinedItems();
  readonly #requestIds = new RequestIds();
  readonly #encoder = new Encoder<CodexMessage>(CODEX.header, ({ method, params }, at) =>
    encodeNotification(method, params, at),
  );

  constructor(host: CodexHost, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
  }

  serve(client: Client): ClientHandler {
    return new CodexClientHandler(client, {
      host: this.#host,
      clock: this.#clock,
      policies: this.#policies,
      encode: (event) => this.#encode(event),
      requestId: (key) => this.#requestIds.of(key),
    });
  }

  #encode(event: ThreadEvent): readonly Encoded<CodexMessage>[] {
    return this.#encoder.encode(event, () => {
      const messages = messagesOf(this.#declined.apply(event), this.#policies);
      for (const message of messages) if (message.kind === "resolved") this.#requestIds.release(message.key);
      return messages;
    });
  }
}

/** Ids that are remembered; a request that is still open after so many others gets a new one. */
const MOST_IDS = 10_000;

/** The ids of requests to clients: counted from 0, and the same for every client that is asked the same. */
class RequestIds {
  readonly #ids = new Map<string, number>();
  #next = 0;

  of(key: string): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#next;
    this.#next += 1;
    this.#ids.set(key, id);
    const [oldest] = this.#ids.keys();
    if (this.#ids.size > MOST_IDS && oldest !== undefined) this.#ids.delete(oldest);
    return id;
  }

  /** No client is asked this any more. */
  release(key: string): void {
    this.#ids.delete(key);
  }
}
