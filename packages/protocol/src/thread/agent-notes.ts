import type { Grant } from "../approval/grant.ts";
import { isKnownItem } from "../items.ts";
import type { Goal, Turn } from "./thread.ts";

/** The longest note, and how many notes wait at most. */
const NOTE_LENGTH = 8_000;
const NOTES = 10;

/** The notes with one more; the oldest ones are dropped. */
export function withNote(notes: readonly string[], note: string): readonly string[] {
  return note === "" ? notes : [...notes, note].slice(-NOTES);
}

/** A note on the commands that the user ran. Empty if the turn has no command. */
export function commandNote(turn: Turn): string {
  const commands = turn.items.flatMap((item) =>
    isKnownItem(item) && item.type === "commandExecution" ? [item] : [],
  );
  return commands
    .map(({ command, exitCode, aggregatedOutput = "" }) => {
      const who =
        turn._meta?.goalCheck === true
          ? "The check of the goal was run"
          : "The user ran this command in the terminal";
      const ended = exitCode === undefined ? "It was stopped." : `It ended with exit code ${exitCode}.`;
      return `${who}: ${command}\n${ended} Its output:\n${lastPart(aggregatedOutput)}`;
    })
    .join("\n\n");
}

/** A note on what Flint itself did to the thread. Empty for any other turn. */
export function noticeNote({ _meta }: Turn): string {
  return _meta?.startedBy === "flint" ? String(_meta.reason ?? "") : "";
}

/** A note on the goal that the user set. */
export function goalNote(goal: Goal): string {
  const { objective, status, reason, pursuit } = goal;
  if (reason !== undefined) return `The goal of this conversation is ${status} now. ${reason}`;
  const how = pursuit !== undefined && status === "active" ? `\n${goalInstruction(goal)}` : "";
  return `The user set the goal of this conversation (${status}): ${objective}${how}`;
}

/** A goal in one line, for the user. */
export function describeGoal({ objective, status, reason, pursuit }: Goal): string {
  const turns = pursuit === undefined ? "" : `, ${pursuit.turns} of ${pursuit.maxTurns} further turns`;
  return `Goal (${status}${turns}): ${objective}${reason === undefined ? "" : `. ${reason}`}`;
}

/** Instructs the agent of a pursued goal how to show that it is reached. */
export function goalInstruction({ pursuit }: Goal): string {
  return pursuit?.check === undefined
    ? 'When it is reached, end your answer with the line "GOAL REACHED". If you cannot go on without the user, end it with "GOAL BLOCKED: " and the reason.'
    : `It is reached when this command succeeds, which is run after your turn: ${pursuit.check}`;
}

/** A note on a command that the user allowed after its approval had ended. */
export function grantNote({ words }: Grant): string {
  return `The user has allowed now, once: ${words}. Do it again if you still need it.`;
}

/** The tail: the end of an output is more useful than its beginning. */
function lastPart(text: string): string {
  return text.length <= NOTE_LENGTH ? text : `…${text.slice(-NOTE_LENGTH).replace(/^[\uDC00-\uDFFF]/, "")}`;
}
