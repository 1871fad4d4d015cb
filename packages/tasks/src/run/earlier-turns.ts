import { existsSync } from "node:fs";
import { errorMessage, type RoundState, type TaskState, type TurnReference } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import type { ExecuteOutcome } from "../decide/outcomes.ts";
import { answerIn } from "./logged-turn.ts";
import type { TaskWorkspaces } from "./task-workspaces.ts";
import type { AnsweredTurn } from "./turn-outcome.ts";

/** The current round, if an earlier run began its turn and nothing that a user said since then is waiting for another one. */
export function unfinishedRound(state: TaskState): RoundState | undefined {
  const round = state.rounds.at(-1);
  if (round === undefined || round.tree !== undefined || round.executor !== state.executor) return undefined;
  const unread = state.instructions.slice(round.instructionsRead);
  return unread.every((note) => note === round.interruption) ? round : undefined;
}

/** The turns that an earlier run began, and whose end it may not have reported. */
export class EarlierTurns {
  readonly #client: FlintClient;
  readonly #workspaces: Pick<TaskWorkspaces, "committed">;
  readonly #worker: string;

  constructor(client: FlintClient, workspaces: Pick<TaskWorkspaces, "committed">, worker: string) {
    this.#client = client;
    this.#workspaces = workspaces;
    this.#worker = worker;
  }

  /** Reports whether a thread is on this machine. */
  isHere({ worker }: TurnReference): boolean {
    return worker === undefined || worker === this.#worker;
  }

  /**
   * The answer of the executor, if its work is still in the folder. Undefined if the turn was cut off or had no answer: an
   * earlier run may have reported that, and waited since then.
   */
  async answered(
    { folder = "" }: TaskState,
    { turn, clientId }: RoundState,
  ): Promise<AnsweredTurn | undefined> {
    if (turn === undefined || !this.isHere(turn) || !existsSync(folder)) return undefined;
    return answerIn(this.#client, turn, (id) => id === clientId);
  }

  /** The answer of the reviewer that was asked last. `key` is how the keys of its turns begin. */
  async judged({ reviewing }: RoundState, key: string): Promise<AnsweredTurn | undefined> {
    if (reviewing === undefined || !this.isHere(reviewing)) return undefined;
    return answerIn(this.#client, reviewing, (id) => id.startsWith(key));
  }

  /**
   * Returns the outcome that a run elsewhere committed before it was lost. That work counts, and nothing that
   * the run writes later.
   */
  async committed(state: TaskState, { round, turn, fence }: RoundState): Promise<ExecuteOutcome | undefined> {
    if (turn === undefined || fence === undefined) return undefined;
    const usage = { seconds: 0 };
    // Expected: the remote cannot be reached, or the repository is gone; the user decides whether to do the turn again.
    try {
      const work = await this.#workspaces.committed(state, round, fence);
      return work && { kind: "completed", turn, usage, ...work, contested: [] };
    } catch (thrown) {
      return { kind: "unstored", message: errorMessage(thrown), usage };
    }
  }
}
