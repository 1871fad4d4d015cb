import { isRecord } from "@flint/protocol";
import type { HttpConnection } from "./http-connection.ts";

type Fetch = HttpConnection["fetch"];
type Fields = Record<string, unknown>;

/**
 * Fills in what servers of the Responses API leave out and nothing depends on: times, ids, positions and statuses. The
 * SDK (@ai-sdk/openai 3) rejects the whole response without them.
 */
export function lenientResponses(fetch: Fetch): Fetch {
  return async (address, init) => {
    const { body, status, headers } = await fetch(address, init);
    return new Response(body === null ? null : body.pipeThrough(eventLines(new Completion())), {
      status,
      headers,
    });
  };
}

/** Passes lines on as they are completed, each changed as the completion says. */
function eventLines(completion: Completion): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let open = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (open + decoder.decode(chunk, { stream: true })).split("\n");
      open = lines.pop() ?? "";
      if (lines.length === 0) return;
      controller.enqueue(encoder.encode(`${lines.map((line) => completion.line(line)).join("\n")}\n`));
    },
    flush(controller) {
      const rest = open + decoder.decode();
      if (rest !== "") controller.enqueue(encoder.encode(completion.line(rest)));
    },
  });
}

/** The parts of one response that were seen so far. */
class Completion {
  #items = 0;
  #itemId = "";

  /** One line of the stream. Only incomplete lines are rewritten. */
  line(line: string): string {
    if (!line.startsWith("data:") || !/"response\./.test(line)) return line;
    if (/\.delta"/.test(line) && line.includes('"item_id"')) return line;
    // Expected: whatever an endpoint sends. The SDK reports what it cannot read.
    try {
      const event: unknown = JSON.parse(line.slice("data:".length));
      return isRecord(event) ? `data: ${JSON.stringify(this.#completed(event))}` : line;
    } catch {
      return line;
    }
  }

  #completed(event: Fields): Fields {
    const { type } = event;
    if (type === "response.created") return { ...event, response: this.#response(event.response) };
    if (type === "response.failed") return { sequence_number: 0, ...event };
    if (type === "response.output_item.added") return this.#item(event, { arguments: "" });
    if (type === "response.output_item.done") return this.#item(event, { status: "completed" });
    const isPart = typeof type === "string" && /\.delta$/.test(type);
    return isPart ? { item_id: this.#itemId, output_index: this.#position, ...event } : event;
  }

  #response(given: unknown): Fields {
    const response = isRecord(given) ? given : {};
    const created = typeof response.created_at === "number" ? response.created_at : 0;
    return { id: "response", model: "", ...withoutNull(response), created_at: created };
  }

  #item(event: Fields, usual: Fields): Fields {
    if (event.type === "response.output_item.added") this.#items += 1;
    const item = isRecord(event.item) ? withoutNull(event.item) : {};
    const id = typeof item.id === "string" && item.id !== "" ? item.id : `item_${this.#items}`;
    this.#itemId = id;
    const call = item.type === "function_call" ? { call_id: id, arguments: "", ...usual } : {};
    return { output_index: this.#position, ...withoutNull(event), item: { ...call, ...item, id } };
  }

  get #position(): number {
    return Math.max(0, this.#items - 1);
  }
}

function withoutNull(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
