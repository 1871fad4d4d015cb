import type { TaskState } from "@flint/protocol";
import { TaskRefusal } from "../decide/decision.ts";

/**
 * Returns the reason a task may only be listed and removed; undefined if someone trusted has added it as it
 * is. In a database that others write too, a task may be anyone's, and names folders and remotes of this
 * machine.
 */
export type VerifyTask = (state: TaskState) => Promise<string | undefined>;

/** Throws the reason as an error message for the user, unless the task is verified. */
export async function assertVerified(state: TaskState, verify: VerifyTask | undefined): Promise<void> {
  const problem = await verify?.(state);
  if (problem === undefined) return;
  const { number } = state;
  throw new TaskRefusal(
    `Task ${number} can only be listed and removed here. ${problem} To remove it: flint tasks cancel ${number}, then flint tasks remove ${number}.`,
  );
}
