type Fields = Readonly<Record<string, unknown>>;

/** What a line between Flint and an agent is, in a few words, and what it carries. */
export interface NamedFrame {
  readonly name: string;
  /** Undefined where the name says it all. */
  readonly content: unknown;
}

/** Names the lines of one agent in order: an answer is named after the request that it answers. */
export class FrameNames {
  /** Open requests by direction and id. */
  readonly #requests = new Map<string, string>();

  /** Names a line as it was on the wire. */
  name(direction: "in" | "out", payload: string): NamedFrame {
    const fields = fieldsOf(payload);
    if (fields === undefined) return { name: "text", content: payload };
    if (typeof fields.method === "string") return this.#message(direction, fields, fields.method);
    if ("id" in fields && ("result" in fields || "error" in fields)) return this.#answer(direction, fields);
    return { name: typeName(fields), content: fields };
  }

  #message(direction: "in" | "out", { id, params }: Fields, method: string): NamedFrame {
    if (id === undefined) return { name: method, content: params };
    this.#requests.set(keyOf(direction, id), method);
    return { name: `${method} #${String(id)}`, content: params };
  }

  #answer(direction: "in" | "out", { id, result, error }: Fields): NamedFrame {
    const key = keyOf(direction === "in" ? "out" : "in", id);
    const method = this.#requests.get(key) ?? "?";
    this.#requests.delete(key);
    if (error !== undefined) return { name: `${method} #${String(id)} failed`, content: error };
    return { name: `${method} #${String(id)} answered`, content: result };
  }
}

/** The name of a frame that has no method: its type and, where there is one, the type of what is in it. */
function typeName(fields: Fields): string {
  const { type, subtype, request, response, event, message } = fields;
  if (typeof type !== "string") return "object";
  const inner = subtype ?? at(request, "subtype") ?? at(response, "subtype") ?? at(event, "type");
  if (typeof inner === "string") return `${type} ${inner}`;
  const blocks: unknown = at(message, "content");
  if (!Array.isArray(blocks)) return type;
  return [type, [...new Set(blocks.map((block) => String(at(block, "type"))))].join("+")].join(" ");
}

function fieldsOf(payload: string): Fields | undefined {
  // Expected: what is no JSON, or was cut off.
  try {
    const value: unknown = JSON.parse(payload);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(value: unknown, key: string): unknown {
  return isFields(value) ? value[key] : undefined;
}

function keyOf(direction: "in" | "out", id: unknown): string {
  return `${direction} ${JSON.stringify(id)}`;
}
