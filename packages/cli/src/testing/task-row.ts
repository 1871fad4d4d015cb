import { NO_USAGE, type TaskRow } from "@flint/protocol";

export const NOW = 1_800_000_000_000;

/** A task of ann in this phase, as a server lists it. */
export function row(number: number, phase: TaskRow["phase"], more: Partial<TaskRow> = {}): TaskRow {
  return {
    ...{
      id: `t${number}`,
      number,
      title: `Task ${number}`,
      cwd: "/repo",
      phase,
      attempt: 1,
      round: 0,
      rounds: 3,
    },
    ...{
      executor: "claude",
      merge: "branch",
      findings: [],
      addedBy: "ann",
      addedAtMs: NOW,
      updatedAtMs: NOW,
    },
    usage: { tokens: NO_USAGE, seconds: 0 },
    ...more,
  };
}
