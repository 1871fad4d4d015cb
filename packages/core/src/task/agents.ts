import { FlintError, type Params } from "@flint/protocol";
import { checkLimits } from "../budget/enforcement.ts";
import type { SetupProblem } from "../ports/index.ts";
import type { Services } from "../services.ts";

type Task = Params<"task/add">["tasks"][number];
type Roles = NonNullable<Task["executors"]>;

/** Reports whether a task is for the agents of this server; those of workers elsewhere are checked there. */
export function isDoneHere({ remote, pool, labels }: Task): boolean {
  return (remote ?? pool ?? labels) === undefined;
}

/** Throws `invalidParams` for a task whose limits an agent of this server cannot keep. */
export async function checkTaskLimits(
  { budget, executors = [{}], reviewers = [] }: Task,
  { catalogue, options }: Services,
): Promise<void> {
  const { costUsd, tokens, enforcement = options.budget?.enforcement } = budget ?? {};
  if ((costUsd ?? tokens) === undefined) return;
  const limits = {
    ...(enforcement === undefined ? {} : { enforcement }),
    turn: { ...(costUsd === undefined ? {} : { costUsd }), ...(tokens === undefined ? {} : { tokens }) },
  };
  for (const { model } of [...executors, ...reviewers]) {
    try {
      const { id } = await catalogue.choose(model ?? options.model ?? (await catalogue.defaultModel()));
      await checkLimits({ budget: limits, model: id }, catalogue);
    } catch (thrown) {
      if (thrown instanceof FlintError && thrown.data.field === "budget") throw thrown;
      // Expected: an agent that is not there or cannot be asked now. The turn of the task reports it.
    }
  }
}

/**
 * Throws `invalidParams` if no agent of a role is installed, or one that has to work is not. Returns what may keep the others
 * from working: a task waits for days, and is not to find that out at its first turn.
 */
export async function checkAgents(
  tasks: readonly Task[],
  { catalogue }: Services,
): Promise<ReadonlySet<string>> {
  const known = new Map<string, Promise<SetupProblem | undefined>>();
  const problemOf = (model: string, cwd: string) => {
    const key = JSON.stringify([model.split("/")[0], cwd]);
    // Expected: an agent that cannot be asked now. The turn of the task reports it.
    const problem =
      known.get(key) ??
      Promise.resolve(catalogue.driver(model.split("/")[0] ?? "")?.setupProblem?.(cwd)).catch(
        () => undefined,
      );
    known.set(key, problem);
    return problem;
  };
  const warnings = new Set<string>();
  for (const { executors = [], reviewers = [], reviews, cwd } of tasks) {
    const problems = async (roles: Roles) =>
      Promise.all(roles.map(({ model }) => (model === undefined ? undefined : problemOf(model, cwd))));
    for (const [found, isEachNeeded] of [
      [await problems(executors), false],
      [await problems(reviewers), reviews === "all"],
    ] as const) {
      const missing = found.filter((problem) => problem?.kind === "missing");
      const [first] = missing;
      if (first !== undefined && (isEachNeeded || missing.length === found.length))
        throw new FlintError("invalidParams", first.message, { field: "model" });
      for (const problem of found) if (problem !== undefined) warnings.add(problem.message);
    }
  }
  return warnings;
}
