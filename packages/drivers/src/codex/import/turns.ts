import { mintId, type ThreadItem, type Turn } from "@flint/protocol";
import { objectOf, stringField } from "../../shared/json.ts";
import { type SessionLine, timeOf } from "../../shared/session-files.ts";
import { itemsOf } from "./items.ts";

/** A turn while its lines are read. */
interface Draft {
  readonly nativeId: string;
  readonly startedAtMs: number | undefined;
  readonly items: ThreadItem[];
  endedAtMs: number | undefined;
  status: Turn["status"];
}

/** The turns of a session. A turn without an end was cut off; what was rolled back is left out. */
export function turnsOf(lines: readonly SessionLine[], cwd: string): readonly Turn[] {
  const drafts: Draft[] = [];
  for (const line of lines) {
    const event = line.type === "event_msg" ? objectOf(line.payload) : {};
    const turn = drafts.at(-1);
    switch (event.type) {
      case "task_started":
      case "turn_started":
        drafts.push(begun(line, stringField(event, "turn_id")));
        break;
      case "task_complete":
      case "turn_complete":
        if (turn !== undefined) end(turn, "completed", line);
        break;
      case "turn_aborted":
        if (turn !== undefined) end(turn, "interrupted", line);
        break;
      case "thread_rolled_back":
        drafts.splice(drafts.length - numberOf(event.num_turns));
        break;
      default:
        turn?.items.push(...itemsOf(line, cwd));
    }
  }
  // Turns without a prompt are Codex's own, such as a compaction.
  return drafts.filter(({ items }) => items.length > 0).map(turnOf);
}

function begun(line: SessionLine, id: string | undefined): Draft {
  const nativeId = id ?? mintId();
  return { nativeId, startedAtMs: timeOf(line), items: [], endedAtMs: undefined, status: "interrupted" };
}

function end(turn: Draft, status: Turn["status"], line: SessionLine): void {
  turn.status = status;
  turn.endedAtMs = timeOf(line);
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}

function turnOf({ nativeId, startedAtMs, endedAtMs, items, status }: Draft): Turn {
  return {
    ...{ id: mintId(startedAtMs), kind: "prompt", status, items, _meta: { nativeTurnId: nativeId } },
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(endedAtMs === undefined ? {} : { completedAtMs: endedAtMs }),
    ...(startedAtMs === undefined || endedAtMs === undefined
      ? {}
      : { durationMs: Math.max(0, endedAtMs - startedAtMs) }),
  };
}
