import type { TaskEvent, TaskSpec } from "@flint/protocol";
import type { Invariant } from "./invariants.ts";
import { REAL_AGENTS, RESULT_FILE, type RealAgentName } from "./processes/worker-order.ts";

/** The folder of worktrees beside the state of a worker has its name, so what a command writes shows who ran it. */
const WORKER = "$(pwd | sed -n 's,.*/\\(w[0-9]*\\)-worktrees/.*,\\1,p')";

/**
 * Returns the task of this key in a campaign with real agents: one of the two works, and the other one
 * reviews.
 */
export function realTask(key: string): Pick<TaskSpec, "prompt" | "executors" | "reviewers"> {
  const [executor, reviewer] = rolesOf(key);
  const write = `echo "${WORKER} began" > ${RESULT_FILE}; sleep 0.3; echo "${WORKER}" > ${RESULT_FILE}`;
  // The offline model calls for a command that it is given word for word.
  return {
    prompt: `run \`${write}\``,
    executors: [{ model: executor }],
    reviewers: [{ model: reviewer }],
  };
}

function rolesOf(key: string): readonly [executor: RealAgentName, reviewer: RealAgentName] {
  const [claude, codex] = REAL_AGENTS;
  return Number(key.split("-").at(-1)) % 2 === 0 ? [claude, codex] : [codex, claude];
}

function executorOf(events: readonly TaskEvent[]): string {
  const [added] = events;
  return (added?.type === "task/added" ? added.data.spec.executors[0]?.model : undefined) ?? "no one";
}

/** Judges whether the real agents had their parts: no result without the other agent's verdict on it. */
export function judgeReviews(logs: ReadonlyMap<string, readonly TaskEvent[]>): Invariant {
  const breaches: string[] = [];
  const done = new Map<string, number>();
  for (const [id, events] of logs) {
    if (!events.some(({ type }) => type === "task/merged")) continue;
    const model = executorOf(events);
    done.set(model, (done.get(model) ?? 0) + 1);
    if (!events.some((event) => event.type === "round/reviewed" && event.data.verdict.verdict === "approve"))
      breaches.push(`${id} has a result that no one reviewed`);
  }
  const seen = [...done].map(([model, count]) => `${count} by ${model}`).toSorted();
  return { name: "each result was approved by the other agent", seen: seen.join(", "), breaches };
}
