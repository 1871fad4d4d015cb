import { createHash } from "node:crypto";
import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import { fits, wellFormedObject } from "./bounded-json.ts";

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
    parameters: { ...wellFormedObject(inputSchema), type: "object" },
  };
}

/** A tool as its server calls it. */
export interface ToolOrigin {
  readonly server: string;
  readonly tool: string;
}

const MODEL_NAME_LENGTH = 64;
const MARK_LENGTH = 8;

/**
 * A name for each tool that every model takes: letters, digits, `_` and `-`, at most 64. It depends on the tools alone,
 * not on their order, and no two get the same.
 */
export function nameTools(origins: readonly ToolOrigin[]): string[] {
  const wanted = origins.map(plainName);
  const counts = new Map<string, number>();
  for (const name of wanted) counts.set(name, (counts.get(name) ?? 0) + 1);
  return origins.map((origin, at) => {
    const name = wanted[at] ?? "";
    const isAlone = counts.get(name) === 1;
    return name.length <= MODEL_NAME_LENGTH && (isAlone || isExact(origin)) ? name : markedName(name, origin);
  });
}

function plainName({ server, tool }: ToolOrigin): string {
  return `mcp__${serverPart(server)}__${lettersOnly(tool)}`;
}

/** Without a double underscore, and with none at its ends: the first double one is where the tool begins. */
function serverPart(server: string): string {
  return lettersOnly(server).replace(/_+/g, "_").replace(/^_|_$/g, "") || "server";
}

function lettersOnly(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** Nothing was changed in the name, so no other exact one can have become the same. */
function isExact({ server, tool }: ToolOrigin): boolean {
  return serverPart(server) === server && lettersOnly(tool) === tool;
}

function markedName(name: string, { server, tool }: ToolOrigin): string {
  const mark = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, MARK_LENGTH);
  return `${name.slice(0, MODEL_NAME_LENGTH - MARK_LENGTH - 1)}_${mark}`;
}
