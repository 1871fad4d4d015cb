import { isKnownItem } from "../items.ts";
import type { Goal, Turn } from "./thread.ts";

/** How much of one note an agent is told, and how many notes wait at most. */
const NOTE_LENGTH = 8_000;
const NOTES = 10;

/** One more note for the agent; the oldest ones give way. */
export function withNote(notes: readonly string[], note: string): readonly string[] {
  return note === "" ? notes : [...notes, note].slice(-NOTES);
}

/** What the user ran himself, in words for the agent that goes on. Empty if the turn holds no command. */
export function commandNote(turn: Turn): string {
  const commands = turn.items.flatMap((item) =>
    isKnownItem(item) && item.type === "commandExecution" ? [item] : [],
  );
  return commands
    .map(({ command, exitCode, aggregatedOutput = "" }) => {
      const ended =
        exitCode === undefined ? "It did not end by itself." : `It ended with exit code ${exitCode}.`;
      return `The user ran this command in the terminal: ${command}\n${ended} Its output:\n${lastPart(aggregatedOutput)}`;
    })
    .join("\n\n");
}

/** What Flint itself did to the thread, in words for the agent that goes on. Empty for a turn of anybody else. */
export function noticeNote({ _meta }: Turn): string {
  return _meta?.startedBy === "flint" ? String(_meta.reason ?? "") : "";
}

/** What the user wants reached, in words for the agent that goes on. */
export function goalNote(goal: Goal): string {
  return `The user set the goal of this conversation (${goal.status}): ${goal.objective}`;
}

/** The end of an output says more than its beginning. */
function lastPart(text: string): string {
  return text.length <= NOTE_LENGTH ? text : `…${text.slice(-NOTE_LENGTH).replace(/^[\uDC00-\uDFFF]/, "")}`;
}
