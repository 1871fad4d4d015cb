import type { ThreadEvent } from "@flint/protocol";
import { CODEX } from "@flint/protocol/codex";
import { type Encoded, Encoder } from "../shared/encoder.ts";
import type { Client, ClientHandler, Frontend } from "../shared/frontend.ts";
import { ApprovalWords } from "./approval-words.ts";
import { CodexClientHandler } from "./client-handler.ts";
import { type CodexHost, NO_HOST } from "./host/host.ts";
import { type CodexMessage, outbound } from "./outbound.ts";
import { RefusedItems } from "./refused-items.ts";
import { RequestIds } from "./request-ids.ts";
import { encodeTold } from "./wire.ts";

export type { CodexHost } from "./host/host.ts";

/** What the app-server of Codex speaks, with any agent behind it. */
export function codexFrontend(host: CodexHost = NO_HOST): Frontend {
  return new CodexFrontend(host);
}

class CodexFrontend implements Frontend {
  readonly vocabulary = CODEX;
  readonly initializeFirst = true;
  readonly reading = { params: "any", ids: "plain" } as const;
  readonly #host: CodexHost;
  readonly #words = new ApprovalWords();
  readonly #refusals = new RefusedItems();
  readonly #requestIds = new RequestIds();
  readonly #encoder = new Encoder<CodexMessage>(CODEX.header, ({ method, params }, at) =>
    encodeTold(method, params, at),
  );

  constructor(host: CodexHost) {
    this.#host = host;
  }

  serve(client: Client): ClientHandler {
    return new CodexClientHandler(client, {
      host: this.#host,
      words: this.#words,
      encode: (event) => this.#encode(event),
      requestId: (key) => this.#requestIds.of(key),
    });
  }

  #encode(event: ThreadEvent): readonly Encoded<CodexMessage>[] {
    return this.#encoder.encode(event, () => {
      const messages = outbound(this.#refusals.shown(event), this.#words);
      for (const message of messages) if (message.kind === "resolved") this.#requestIds.release(message.key);
      return messages;
    });
  }
}
