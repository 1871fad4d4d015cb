import { LIMITS, listOf, stringOf } from "@flint/protocol";
import { type JsonObject, objectOf } from "../../shared/json.ts";

/** A tool call as far as the agent has described it; every update adds to it or replaces parts. */
export interface ToolCall {
  readonly kind: string;
  readonly status: "pending" | "in_progress" | "completed" | "failed";
  readonly title: string;
  readonly name: string | undefined;
  readonly rawInput: unknown;
  readonly rawOutput: unknown;
  readonly content: readonly JsonObject[];
  readonly locations: readonly string[];
  /** The output of a terminal of the agent's own, which comes in deltas beside the protocol. */
  readonly terminalOutput: string;
  /** The latest of those deltas. */
  readonly terminalDelta: string;
  readonly exitCode: number | undefined;
}

/** A call of which nothing is known yet. */
export const UNKNOWN_CALL: ToolCall = {
  kind: "other",
  status: "pending",
  title: "",
  name: undefined,
  rawInput: undefined,
  rawOutput: undefined,
  content: [],
  locations: [],
  terminalOutput: "",
  terminalDelta: "",
  exitCode: undefined,
};

/** The call after an update; what the update omits stays. */
export function updatedCall(call: ToolCall, update: JsonObject): ToolCall {
  const meta = objectOf(update._meta);
  const claude = objectOf(meta.claudeCode);
  const terminalDelta = stringOf(objectOf(meta.terminal_output_delta).data) ?? "";
  // Text beyond the limit is not sent to clients, so it need not be stored either.
  const isFull = call.terminalOutput.length > LIMITS.output;
  return {
    kind: stringOf(update.kind) ?? call.kind,
    status: statusOf(update.status) ?? call.status,
    title: stringOf(update.title) ?? call.title,
    name: stringOf(update.name) ?? stringOf(claude.toolName) ?? call.name,
    rawInput: fuller(update.rawInput, call.rawInput),
    rawOutput: update.rawOutput ?? call.rawOutput,
    content: Array.isArray(update.content) ? newContent(update.content.map(objectOf), call) : call.content,
    locations: Array.isArray(update.locations) ? pathsOf(update.locations) : call.locations,
    terminalOutput: isFull ? call.terminalOutput : call.terminalOutput + terminalDelta,
    terminalDelta,
    exitCode: exitCodeOf(update, meta) ?? call.exitCode,
  };
}

/** The diffs in the content of a call. */
export function diffsOf(call: ToolCall): readonly JsonObject[] {
  return call.content.filter((part) => part.type === "diff" && typeof part.path === "string");
}

/** The command of a call, as exactly as the agent gives it. */
export function commandOf(call: ToolCall): string | undefined {
  const input = objectOf(call.rawInput);
  const line = firstString(input, "command", "cmd", "script");
  if (line !== undefined) return line;
  const words = listOf(input.command ?? input.cmd).filter((word) => typeof word === "string");
  return words.length === 0 ? undefined : words.join(" ");
}

/** The first of several fields that is a string and not empty. */
export function firstString(object: JsonObject, ...names: readonly string[]): string | undefined {
  return names.map((name) => stringOf(object[name])).find((text) => text !== undefined && text !== "");
}

/** The text of a content block; a block that is not text is named by its type. */
export function blockText(block: unknown): string {
  const { type, text, uri, name, resource } = objectOf(block);
  switch (type) {
    case "text":
      return stringOf(text) ?? "";
    case "resource_link":
      return stringOf(uri) ?? stringOf(name) ?? "";
    case "resource":
      return stringOf(objectOf(resource).text) ?? stringOf(objectOf(resource).uri) ?? "";
    default:
      return typeof type === "string" ? `[${type}]` : "";
  }
}

function statusOf(value: unknown): ToolCall["status"] | undefined {
  switch (value) {
    case "pending":
    case "in_progress":
    case "completed":
    case "failed":
      return value;
    default:
      return undefined;
  }
}

/** Some agents replace the diffs by a sentence at the end; the diffs are what was done all the same. */
function newContent(content: readonly JsonObject[], known: ToolCall): readonly JsonObject[] {
  return content.some((part) => part.type === "diff") ? content : [...diffsOf(known), ...content];
}

/** A permission request may repeat less of the input than an earlier update had. */
function fuller(fresh: unknown, known: unknown): unknown {
  if (fresh === undefined || fresh === null) return known;
  return Object.keys(objectOf(fresh)).length === 0 && known !== undefined ? known : fresh;
}

function pathsOf(locations: readonly unknown[]): string[] {
  return locations.flatMap((location) => stringOf(objectOf(location).path) ?? []);
}

function exitCodeOf(update: JsonObject, meta: JsonObject): number | undefined {
  const output = objectOf(update.rawOutput);
  const candidates = [
    objectOf(meta.terminal_exit).exit_code,
    objectOf(output.metadata).exit,
    output.exitCode,
    output.exit_code,
  ];
  return candidates.find((code) => typeof code === "number");
}

/** The command of a request that is only about the folders it uses. */
export function folderCommandOf({ kind, rawInput }: Pick<ToolCall, "kind" | "rawInput">): string | undefined {
  const { command, directories } = objectOf(rawInput);
  return kind === "other" && Array.isArray(directories) ? stringOf(command) : undefined;
}
