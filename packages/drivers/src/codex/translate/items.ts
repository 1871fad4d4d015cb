import { createHash } from "node:crypto";
import type { DriverEvent } from "@flint/core/ports";
import {
  type FileUpdateChange,
  type Item,
  isId,
  isKnownItem,
  isRecord,
  type ThreadItem,
} from "@flint/protocol";
import type { CodexHookRun } from "@flint/protocol/codex";
import {
  type CodexAnyItem,
  type CodexFileChange,
  type CodexItem,
  readCodexItem,
} from "@flint/protocol/codex";
import { displayPath } from "../../shared/translate.ts";
import { unwrapShell } from "./command-line.ts";

type WorkStatus = Item<"commandExecution">["status"];

/** The id of an item; one that is not a valid id of Flint's is replaced by its digest. */
export function itemIdOf(id: string): string {
  return isId(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** An item of Codex as an item of the thread; undefined for the user's message, which the thread has already. */
export function threadItem(item: CodexAnyItem, cwd: string): ThreadItem | undefined {
  const known = readCodexItem(item);
  const id = itemIdOf(item.id);
  if (known === undefined) return { ...item, type: `codex/${item.type}`, id };
  return knownItem(known, id, cwd);
}

function knownItem(item: CodexItem, id: string, cwd: string): ThreadItem | undefined {
  switch (item.type) {
    case "userMessage":
      return undefined;
    case "agentMessage":
    case "plan":
      return { type: item.type, id, text: item.text };
    case "reasoning":
      return reasoning(item, id);
    case "commandExecution":
      return command(item, id);
    case "fileChange":
      return {
        type: "fileChange",
        id,
        changes: item.changes.map((change) => fileChange(change, cwd)),
        status: workStatus(item.status),
      };
    case "mcpToolCall":
      return mcpToolCall(item, id);
    case "dynamicToolCall":
      return toolCall(id, item, item.arguments, item.contentItems);
    case "collabAgentToolCall":
      return toolCall(id, item, { prompt: item.prompt, threads: item.receiverThreadIds }, undefined);
    // The turn shows what a sub-agent does itself.
    case "subAgentActivity":
      return undefined;
    case "webSearch":
      return { type: "webSearch", id, query: item.query };
    case "enteredReviewMode":
    case "exitedReviewMode":
      return { type: item.type, id, review: item.review };
    case "contextCompaction":
      return { type: "contextCompaction", id };
  }
}

function reasoning({ summary, content }: CodexItem<"reasoning">, id: string): Item<"reasoning"> {
  return {
    type: "reasoning",
    id,
    ...(summary.length === 0 ? {} : { summary: summary.join("\n\n") }),
    ...(content.length === 0 ? {} : { content: content.join("\n\n") }),
  };
}

function command(item: CodexItem<"commandExecution">, id: string): Item<"commandExecution"> {
  const { aggregatedOutput, exitCode, durationMs } = item;
  return {
    type: "commandExecution",
    id,
    command: unwrapShell(item.command),
    cwd: item.cwd,
    status: workStatus(item.status),
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof aggregatedOutput === "string" ? { aggregatedOutput } : {}),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
  };
}

function mcpToolCall(item: CodexItem<"mcpToolCall">, id: string): Item<"mcpToolCall"> {
  const { server, tool, arguments: given, result, error, durationMs } = item;
  return {
    type: "mcpToolCall",
    id,
    server,
    tool,
    status: callStatus(item.status),
    ...(isRecord(given) ? { arguments: given } : {}),
    ...(result === undefined || result === null ? {} : { result }),
    ...(error === undefined || error === null ? {} : { error: error.message }),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
  };
}

function toolCall(
  id: string,
  { tool, status }: { readonly tool: string; readonly status: string },
  given: unknown,
  result: unknown,
): Item<"toolCall"> {
  return {
    type: "toolCall",
    id,
    tool,
    status: workStatus(status),
    ...(given === undefined || given === null ? {} : { arguments: given }),
    ...(result === undefined || result === null ? {} : { result }),
  };
}

/** An unknown status counts as failed. */
function workStatus(status: string): WorkStatus {
  return status === "inProgress" || status === "completed" || status === "declined" ? status : "failed";
}

function callStatus(status: string): Item<"mcpToolCall">["status"] {
  return status === "inProgress" || status === "completed" ? status : "failed";
}

/** An item as it completes with its turn, where Codex does not complete it itself. */
export function completedItem(item: ThreadItem): ThreadItem {
  if (!isKnownItem(item)) return item;
  switch (item.type) {
    case "agentMessage":
    case "reasoning":
    case "plan":
      return { ...item, partial: true };
    case "commandExecution":
    case "fileChange":
    case "mcpToolCall":
    case "toolCall":
      return item.status === "inProgress" ? { ...item, status: "completed" } : item;
    case "hookRun":
      return item.status === "inProgress" ? { ...item, status: "completed" } : item;
    // These have no state that a turn could leave open.
    case "userMessage":
    case "subAgentMessage":
    case "webSearch":
    case "contextCompaction":
    case "enteredReviewMode":
    case "exitedReviewMode":
    case "agentHandoff":
      return item;
  }
}

/** Reports whether the content of an item is streamed. */
export function isStreamed({ type }: ThreadItem): boolean {
  return type === "agentMessage" || type === "reasoning" || type === "plan";
}

/** The completed item, with what was streamed where it does not repeat that. */
export function withStreamed(final: ThreadItem, known: ThreadItem): ThreadItem {
  const streamedFields = STREAMED_FIELDS.flatMap((field): [string, unknown][] => {
    const streamed: unknown = Reflect.get(known, field);
    return Reflect.has(final, field) || streamed === undefined ? [] : [[field, streamed]];
  });
  return streamedFields.length === 0 ? final : { ...final, ...Object.fromEntries(streamedFields) };
}

const STREAMED_FIELDS = ["aggregatedOutput", "summary", "content"] as const;

const NO_NEWLINE = "\\ No newline at end of file";

/** A file change with a complete unified diff, and paths relative to the workspace. */
export function fileChange(change: CodexFileChange, cwd: string): FileUpdateChange {
  const path = displayPath(change.path, cwd);
  switch (change.kind.type) {
    case "add":
      return { path, kind: "add", diff: wholeFile(change.diff, "/dev/null", `b/${path}`, "+") };
    case "delete":
      return { path, kind: "delete", diff: wholeFile(change.diff, `a/${path}`, "/dev/null", "-") };
    // An update, or a kind that a later Codex adds: whatever it is called, its diff is a unified one.
    default:
      return modified(change, path, cwd);
  }
}

/** The text of a patch as it is written: the lines of each file after its name, without the sizes of hunks. */
export function patchText(changes: readonly CodexFileChange[], cwd: string): string {
  return changes.map((change) => fileText(change, displayPath(change.path, cwd))).join("\n");
}

function fileText({ diff, kind }: CodexFileChange, path: string): string {
  if (kind.type === "delete") return `--- a/${path}`;
  const lines = kind.type === "add" ? diff.replace(/^/gm, "+") : hunksOf(diff);
  return `+++ b/${path}\n${lines}`;
}

function modified({ diff, kind }: CodexFileChange, path: string, cwd: string): FileUpdateChange {
  const { move_path: moved } = kind;
  const movePath = typeof moved === "string" ? displayPath(moved, cwd) : undefined;
  const renamed =
    movePath === undefined
      ? ""
      : `diff --git a/${path} b/${movePath}\nrename from ${path}\nrename to ${movePath}\n`;
  const hunks = hunksOf(diff);
  const head = hunks === "" ? "" : `--- a/${path}\n+++ b/${movePath ?? path}\n`;
  const whole = { path, kind: "modify", diff: `${renamed}${head}${hunks}` } as const;
  return movePath === undefined ? whole : { ...whole, movePath };
}

/** Older versions write a header before the hunks and a note about the new name after them. */
function hunksOf(diff: string): string {
  const start = diff.startsWith("@@") ? 0 : diff.indexOf("\n@@") + 1;
  if (start === 0 && !diff.startsWith("@@")) return "";
  return diff.slice(start).replace(/\n+Moved to: [^\n]*\n?$/, "\n");
}

/** The diff of a file that is added or deleted as a whole. */
function wholeFile(text: string, from: string, to: string, sign: "+" | "-"): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  if (lines.length === 0) return `--- ${from}\n+++ ${to}\n`;
  const range = `1,${lines.length}`;
  const ranges = sign === "+" ? `-0,0 +${range}` : `-${range} +0,0`;
  const end = text.endsWith("\n") ? "" : `${NO_NEWLINE}\n`;
  return `--- ${from}\n+++ ${to}\n@@ ${ranges} @@\n${lines.map((line) => `${sign}${line}\n`).join("")}${end}`;
}

/** The source of Flint's own hook, by which approved commands get past the sandbox. */
const FLINT = "sessionFlags";

const STATUSES: ReadonlyMap<string, Item<"hookRun">["status"]> = new Map([
  ["running", "inProgress"],
  ["completed", "completed"],
  ["blocked", "blocked"],
  ["stopped", "stopped"],
]);

/** A hook of the user's configuration that began or ended. Codex itself decides what follows from it. */
export function hookEvents(type: "item/started" | "item/completed", run: CodexHookRun): DriverEvent[] {
  return run.source === FLINT ? [] : [{ type, item: hookItem(run) }];
}

function hookItem(run: CodexHookRun): Item<"hookRun"> {
  const { eventName, sourcePath, statusMessage, durationMs, entries = [] } = run;
  const output = [statusMessage ?? "", ...entries.map(({ text }) => text)].filter((text) => text !== "");
  return {
    ...{ type: "hookRun", id: itemIdOf(run.id), event: eventName },
    status: STATUSES.get(run.status) ?? "failed",
    ...(sourcePath === undefined ? {} : { name: `${eventName} (${sourcePath})` }),
    ...(output.length === 0 ? {} : { output: output.join("\n") }),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
  };
}
