import { listOf } from "@flint/protocol";
import { objectOf, stringField } from "../../shared/json.ts";
import type { SessionLine } from "../../shared/session-files.ts";

/**
 * The lines of the conversation that the session would resume: from its latest message back to its beginning. Messages
 * that the user has gone back behind, and those of sub-agents, are left out.
 */
export function conversation(lines: readonly SessionLine[]): readonly SessionLine[] {
  const byId = new Map(lines.map((line) => [stringField(line, "uuid") ?? "", line]));
  const kept = new Set<SessionLine>();
  let next = lines.findLast(isSpoken);
  while (next !== undefined && !kept.has(next)) {
    kept.add(next);
    // After a compaction the conversation continues without a parent.
    next = byId.get(stringField(next, "parentUuid") ?? stringField(next, "logicalParentUuid") ?? "");
  }
  const keptIds = new Set([...kept].map((line) => stringField(line, "uuid")));
  // The results of calls that ran side by side each follow their own call.
  return lines.filter(
    (line) =>
      kept.has(line) ||
      (isSpoken(line) && keptIds.has(stringField(line, "sourceToolAssistantUUID") ?? "none")),
  );
}

function isSpoken(line: SessionLine): boolean {
  return (line.type === "user" || line.type === "assistant") && line.isSidechain !== true;
}

/** Text that Claude writes as a message of the user when the user has stopped it. */
const INTERRUPTED = /^\[Request interrupted by user/;
/** Text that Claude's own commands write as messages of the user. */
const OWN_COMMAND = /^<(?:local-command|command-name|command-message|bash-|system-reminder)/;

/** The prompt that begins a turn; undefined for any other line. */
export function promptOf(line: SessionLine): string | undefined {
  if (line.type !== "user" || line.isMeta === true || line.isCompactSummary === true) return undefined;
  if (line.isSidechain === true) return undefined;
  const { content } = objectOf(line.message);
  if (listOf(content).some((block) => stringField(block, "type") === "tool_result")) return undefined;
  const text = textOf(content);
  return INTERRUPTED.test(text) || OWN_COMMAND.test(text) || text === "" ? undefined : text;
}

/** Reports whether a line says that the user has stopped the turn. */
export function isInterruption(line: SessionLine): boolean {
  return line.type === "user" && INTERRUPTED.test(textOf(objectOf(line.message).content));
}

/** The text of a message. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((block) => stringField(block, "text") ?? "")
    .filter((text) => text !== "")
    .join("\n");
}
