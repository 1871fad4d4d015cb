import {
  currentRound,
  errorMessage,
  LOCAL_WORKER,
  type TaskEventData,
  type TaskState,
  type TurnReference,
} from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";

/**
 * Result of a message to a running turn: whether it was delivered, the turn it was meant for, and the reason
 * it was not delivered.
 */
export type SteerOutcome = Pick<TaskEventData<"task/steered">, "live" | "error" | "turn">;

/** The running turn of a task's executor if it is on another machine. */
export function remoteTurn(state: TaskState): TurnReference | undefined {
  const turn = currentRound(state)?.turn;
  const isRunning = state.phase === "running" && state.step === "execute" && turn?.turnId !== undefined;
  return isRunning && turn?.worker !== undefined && turn.worker !== LOCAL_WORKER ? turn : undefined;
}

/** Sends a message into the running turn of a task's executor, if there is one in reach of this client. */
export async function steerTurn(
  client: FlintClient,
  state: TaskState,
  content: string,
  worker = LOCAL_WORKER,
): Promise<SteerOutcome> {
  const { number, phase, step } = state;
  if (phase !== "running") return missed(`Task ${number} is ${phase}.`);
  const turn = currentRound(state)?.turn;
  if (step !== "execute" || turn?.turnId === undefined)
    return missed(`The executor of task ${number} has no running turn.`);
  if (turn.worker !== undefined && turn.worker !== worker)
    return { ...missed(`The turn runs on worker ${turn.worker} by now.`), turn };
  // Expected: the turn has just ended, or its agent cannot be steered; the next turn gets the message.
  try {
    const { threadId, turnId } = turn;
    const input = [{ type: "text" as const, text: content }];
    await client.call("turn/steer", { threadId, expectedTurnId: turnId, input });
    return { live: true, turn };
  } catch (thrown) {
    return { ...missed(errorMessage(thrown)), turn };
  }
}

const MAX_ERROR = 4000;

function missed(error: string): SteerOutcome {
  return { live: false, error: error.slice(0, MAX_ERROR) };
}
