import { createHash } from "node:crypto";
import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import { fits, wellFormedObject } from "../bounded-json.ts";

/** A tool of a server, within bounds. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The limits of one server's tools, so that it cannot fill the context or the memory. */
const MAX_TOOLS = 200;
const MAX_CHARACTERS = 256 * 1024;
const MAX_NAME = 128;
const MAX_DESCRIPTION = 2000;
const SCHEMA_BOUNDS = { depth: 32, characters: 32 * 1024 };

/** Collects the tools of one server, page by page. Tools beyond the bounds are left out and counted. */
export class ToolList {
  readonly #tools = new Map<string, ListedTool>();
  #characters = 0;
  #leftOut = 0;
  #isFull = false;

  get tools(): readonly ListedTool[] {
    return [...this.#tools.values()];
  }

  /** Reports whether the limit is reached, so that further pages are not needed. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The problem with the list; undefined if there is none. */
  get problem(): string | undefined {
    if (this.#isFull) {
      return `It has too many tools; the first ${this.#tools.size} are used.`;
    }
    if (this.#leftOut === 0) return undefined;
    const subject = this.#leftOut === 1 ? "1 of its tools is" : `${this.#leftOut} of its tools are`;
    return `${subject} left out: malformed, or with a schema that is too large.`;
  }

  /** Adds the next tool as the server sent it. */
  add(raw: unknown): void {
    if (this.#isFull) return;
    const tool = readTool(raw);
    if (tool === undefined || this.#tools.has(tool.name)) {
      this.#leftOut += 1;
      return;
    }
    const size = tool.description.length + JSON.stringify(tool.parameters).length;
    this.#isFull = this.#tools.size >= MAX_TOOLS || this.#characters + size > MAX_CHARACTERS;
    if (this.#isFull) return;
    this.#characters += size;
    this.#tools.set(tool.name, tool);
  }
}

/** Annotations and instructions of a server are ignored: only the user decides what is safe. */
function readTool(raw: unknown): ListedTool | undefined {
  if (!isRecord(raw)) return undefined;
  const { name, description, inputSchema } = raw;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) return undefined;
  if (!isRecord(inputSchema) || !fits(inputSchema, SCHEMA_BOUNDS)) return undefined;
  return {
    name: truncate(name, MAX_NAME),
    description: typeof description === "string" ? truncate(description, MAX_DESCRIPTION) : "",
    // Models reject a tool whose input is not an object.
    parameters: { ...wellFormedObject(inputSchema), type: "object" },
  };
}

/** A tool by the name of its server and its own. */
export interface ToolOrigin {
  readonly server: string;
  readonly tool: string;
}

const MAX_MODEL_NAME = 64;
const HASH_LENGTH = 8;

/**
 * A name for each tool that every model accepts: letters, digits, `_` and `-`, at most 64. It depends on the tools alone,
 * not on their order, and is unique.
 */
export function nameTools(origins: readonly ToolOrigin[]): string[] {
  const plain = origins.map(plainName);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return origins.map((origin, at) => {
    const name = plain[at] ?? "";
    const isUnique = counts.get(name) === 1;
    return name.length <= MAX_MODEL_NAME && (isUnique || isExact(origin)) ? name : hashedName(name, origin);
  });
}

function plainName({ server, tool }: ToolOrigin): string {
  return `mcp__${serverPart(server)}__${lettersOnly(tool)}`;
}

/** Has no double underscore and none at its ends: the first double one separates server and tool. */
function serverPart(server: string): string {
  return lettersOnly(server).replace(/_+/g, "_").replace(/^_|_$/g, "") || "server";
}

function lettersOnly(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** The name was not changed, so no other exact name can be equal. */
function isExact({ server, tool }: ToolOrigin): boolean {
  return serverPart(server) === server && lettersOnly(tool) === tool;
}

function hashedName(name: string, { server, tool }: ToolOrigin): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_MODEL_NAME - HASH_LENGTH - 1)}_${hash}`;
}
