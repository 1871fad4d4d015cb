import type { TaskEvent, TaskEventData, TaskState } from "@flint/protocol";
import { event } from "../decide/decision.ts";
import type { SteerOutcome } from "../service/steering.ts";
import type { TaskChange, TaskStore } from "../store/task-store.ts";

type Steer = TaskEventData<"task/steered">;

/** Time for which the sender of a message waits for the worker to say whether the turn got it. */
const ANSWER_MS = 5000;
const TRIES = 10;

/**
 * Leaves a message for a turn that runs on another machine in the task's log, and waits for what its worker says. Until then
 * the next turn would get it, so that it is not lost whatever dies.
 */
export async function steerRemoteTurn(
  store: TaskStore,
  state: TaskState,
  message: Pick<Steer, "steerId" | "by" | "content" | "turn">,
): Promise<SteerOutcome> {
  const { turn, steerId } = message;
  const error = `Worker ${turn?.worker} has not said whether the turn got it.`;
  const answered = answerTo(store, steerId);
  // Expected: the task keeps changing.
  try {
    const sent = { ...message, requested: true, live: false, error };
    if (!(await append(store, state.id, sent)))
      return { live: false, error: "The task keeps changing; try again." };
    return (await answered.promise) ?? { live: false, error, ...(turn === undefined ? {} : { turn }) };
  } finally {
    answered.stop();
  }
}

/** Takes messages for the turns of one worker from the logs of their tasks, and says there what became of them. */
export class LiveSteers {
  readonly #store: TaskStore;
  readonly #steer: (state: TaskState, content: string) => Promise<SteerOutcome>;
  readonly #seen = new Set<string>();

  constructor(store: TaskStore, steer: (state: TaskState, content: string) => Promise<SteerOutcome>) {
    this.#store = store;
    this.#steer = steer;
  }

  /** Brings what is new in the log of a task that runs here to its turn. */
  onChange({ state, events }: TaskChange): void {
    const answered = new Set(events.flatMap((each) => steerOf(each, true)?.steerId ?? []));
    for (const each of events) {
      const steer = steerOf(each, false);
      const isOpen = steer?.requested === true && !steer.live && steer.turn !== undefined;
      if (steer === undefined || !isOpen || answered.has(steer.steerId) || this.#seen.has(steer.steerId))
        continue;
      this.#seen.add(steer.steerId);
      void this.#deliver(state, steer);
    }
  }

  async #deliver(state: TaskState, { error: _error, ...steer }: Steer): Promise<void> {
    const outcome = await this.#steer(state, steer.content);
    // Expected: Redis is away; then the next turn gets the message as well.
    await append(this.#store, state.id, { ...steer, ...outcome, answers: true }).catch(() => false);
  }
}

/** Writes a message into the log of a task, whatever else is written meanwhile. */
async function append(store: TaskStore, task: string, steer: Steer): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const state = await store.read(task);
    if (state === undefined) return false;
    const events = [event("task/steered", steer)];
    if ((await store.commit({ task, expect: state.version, events })).status === "ok") return true;
  }
  return false;
}

function answerTo(store: TaskStore, steerId: string) {
  let stop = () => {};
  const promise = new Promise<SteerOutcome | undefined>((resolve) => {
    const unsubscribe = store.subscribe(({ events }) => {
      const answer = events.map((each) => steerOf(each, true)).find((each) => each?.steerId === steerId);
      if (answer === undefined) return;
      const { live, error, turn } = answer;
      resolve({ live, ...(error === undefined ? {} : { error }), ...(turn === undefined ? {} : { turn }) });
    });
    const timer = setTimeout(() => resolve(undefined), ANSWER_MS);
    stop = () => {
      clearTimeout(timer);
      unsubscribe();
    };
  });
  return { promise, stop };
}

/** The message of an event, or what a worker says about one. */
function steerOf(each: TaskEvent, isAnswer: boolean): Steer | undefined {
  return each.type === "task/steered" && (each.data.answers === true) === isAnswer ? each.data : undefined;
}
