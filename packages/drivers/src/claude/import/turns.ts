import { mintId, type ThreadItem, type Turn } from "@flint/protocol";
import { blocksOf, type ClaudeFrame, decodeClaudeFrame } from "@flint/protocol/claude";
import { objectOf, stringField } from "../../shared/json.ts";
import { type SessionLine, timeOf } from "../../shared/session-files.ts";
import { recordedChanges } from "../translate/file-changes.ts";
import { beginTurn, type FileChanges, type TranslateState } from "../translate/state.ts";
import { step } from "../translate.ts";
import { isInterruption, promptOf, textOf } from "./conversation.ts";

/** The turns of a conversation, by the same translation as that of a running Claude. */
export async function turnsOf(lines: readonly SessionLine[], cwd: string): Promise<readonly Turn[]> {
  const results = resultsIn(lines);
  const starts = lines.flatMap((line, index) => (promptOf(line) === undefined ? [] : [index]));
  const turns: Turn[] = [];
  for (const [index, start] of starts.entries()) {
    turns.push(await turnOf(lines.slice(start, starts[index + 1]), cwd, results));
  }
  return turns;
}

/** The tools' own results, by the ids of the uses. */
type Results = ReadonlyMap<string, unknown>;

function resultsIn(lines: readonly SessionLine[]): Results {
  const found = new Map<string, unknown>();
  for (const line of lines) {
    const frame = frameOf(line);
    if (frame?.type !== "user") continue;
    for (const { tool_use_id: id } of blocksOf(frame.message)) {
      if (id !== undefined) found.set(id, frame.tool_use_result);
    }
  }
  return found;
}

async function turnOf(lines: readonly SessionLine[], cwd: string, results: Results): Promise<Turn> {
  const [prompt, ...rest] = lines;
  const startedAtMs = timeOf(prompt);
  const completedAtMs = timeOf(lines.at(-1));
  const id = mintId(startedAtMs);
  const items = new Map<string, ThreadItem>();
  let state: TranslateState = beginTurn(id, cwd);
  const translate = async (frame: ClaudeFrame): Promise<void> => {
    const [next, events] = step(state, frame, await changesIn(frame, results, cwd));
    state = next;
    for (const event of events) {
      if (event.type === "item/started" || event.type === "item/completed")
        items.set(event.item.id, event.item);
    }
  };
  for (const line of rest) {
    const frame = frameOf(line);
    if (line.isCompactSummary === true) {
      const summary = textOf(objectOf(line.message).content);
      items.set(`${id}-summary`, { type: "contextCompaction", id: `${id}-summary`, summary });
    } else if (frame !== undefined) await translate(frame);
  }
  await translate(END);
  const content = [{ type: "text" as const, text: (prompt && promptOf(prompt)) ?? "" }];
  return {
    ...{ id, kind: "prompt", status: statusOf(rest) },
    items: [{ type: "userMessage", id: `${id}-prompt`, content }, ...items.values()],
    _meta: { nativeTurnId: stringField(prompt, "uuid") ?? id },
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(completedAtMs === undefined ? {} : { completedAtMs }),
    ...(startedAtMs === undefined || completedAtMs === undefined
      ? {}
      : { durationMs: Math.max(0, completedAtMs - startedAtMs) }),
  };
}

/** Completes what is open. */
const END: ClaudeFrame = { type: "result", subtype: "success", is_error: false };

/** A line of a session as the frame that Claude wrote for it; undefined if it was none. */
function frameOf(line: SessionLine): ClaudeFrame | undefined {
  if (line.type !== "user" && line.type !== "assistant") return undefined;
  const frame = { ...line, tool_use_result: line.toolUseResult, parent_tool_use_id: null };
  const decoded = decodeClaudeFrame(JSON.stringify(frame));
  return decoded.ok && line.isMeta !== true ? decoded.frame : undefined;
}

async function changesIn(frame: ClaudeFrame, results: Results, cwd: string): Promise<FileChanges> {
  if (frame.type !== "assistant") return new Map();
  const found = new Map<string, Awaited<ReturnType<typeof recordedChanges>> & object>();
  for (const { id, name, input } of blocksOf(frame.message)) {
    if (id === undefined || name === undefined) continue;
    const changes = await recordedChanges(name, objectOf(input), results.get(id), cwd);
    if (changes !== undefined) found.set(id, changes);
  }
  return found;
}

/** A turn is complete if its last message of the model did not want to continue. */
function statusOf(lines: readonly SessionLine[]): Turn["status"] {
  if (lines.some(isInterruption)) return "interrupted";
  const last = lines.findLast(({ type }) => type === "assistant");
  const reason = stringField(last?.message, "stop_reason");
  return last === undefined || reason === "tool_use" ? "interrupted" : "completed";
}
