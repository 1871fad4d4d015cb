import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import { fits, mendedObject } from "./bounded-json.ts";

/** A tool that a server offers, within bounds. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What one server may put before a model, so that it cannot fill the context or the memory. */
const MOST_TOOLS = 200;
const MOST_CHARACTERS = 256 * 1024;
const LONGEST_NAME = 128;
const LONGEST_DESCRIPTION = 2000;
const SCHEMA_BOUNDS = { depth: 32, characters: 32 * 1024 };

/** The tools of one server as they come in, page by page. What goes beyond the bounds is left out and counted. */
export class ToolList {
  readonly #tools = new Map<string, ListedTool>();
  #characters = 0;
  #leftOut = 0;
  #isFull = false;

  get tools(): readonly ListedTool[] {
    return [...this.#tools.values()];
  }

  /** No more are taken; further pages need not be asked for. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** What is wrong with the list, for people. */
  get problem(): string | undefined {
    if (this.#isFull) {
      return `It offers more tools than are taken from one server; the first ${this.#tools.size} are used.`;
    }
    if (this.#leftOut === 0) return undefined;
    const subject = this.#leftOut === 1 ? "1 of its tools is" : `${this.#leftOut} of its tools are`;
    return `${subject} left out: malformed, or with a schema that is too large.`;
  }

  /** Takes the next tool as the server wrote it. */
  add(raw: unknown): void {
    if (this.#isFull) return;
    const tool = readTool(raw);
    if (tool === undefined || this.#tools.has(tool.name)) {
      this.#leftOut += 1;
      return;
    }
    const size = tool.description.length + JSON.stringify(tool.parameters).length;
    this.#isFull = this.#tools.size >= MOST_TOOLS || this.#characters + size > MOST_CHARACTERS;
    if (this.#isFull) return;
    this.#characters += size;
    this.#tools.set(tool.name, tool);
  }
}

/** What a server says of itself in its hints and instructions is not taken: only the user decides what is harmless. */
function readTool(raw: unknown): ListedTool | undefined {
  if (!isRecord(raw)) return undefined;
  const { name, description, inputSchema } = raw;
  if (typeof name !== "string" || name === "" || name.length > LONGEST_NAME) return undefined;
  if (!isRecord(inputSchema) || !fits(inputSchema, SCHEMA_BOUNDS)) return undefined;
  return {
    name: truncate(name, LONGEST_NAME),
    description: typeof description === "string" ? truncate(description, LONGEST_DESCRIPTION) : "",
    // Models refuse a tool whose input is not an object.
    parameters: { ...mendedObject(inputSchema), type: "object" },
  };
}
