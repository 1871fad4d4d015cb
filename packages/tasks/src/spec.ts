import { type LimitPolicy, type MergeMode, type Role, shortened, type TaskSpec } from "@flint/protocol";
import { TaskRefusal } from "./decide/decision.ts";

/** The fields that a new task requires; all others have a default. */
export type TaskRequest = Pick<TaskSpec, "prompt" | "cwd"> & {
  readonly [Name in keyof TaskSpec]?:
    | (Name extends "budget" | "limits" ? Unfinished<TaskSpec[Name]> : TaskSpec[Name])
    | undefined;
};
type Unfinished<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

const DEFAULT_SECONDS = 2 * 60 * 60;
const DEFAULT_WAIT_SECONDS = 24 * 60 * 60;

/** The configured agent works if none is named. */
const DEFAULT_EXECUTOR: Role = {};

/** The complete task for a request, or a refusal that says what is missing. */
export function resolveSpec(request: TaskRequest, limits: Partial<LimitPolicy> = {}): TaskSpec {
  const reviewers = request.reviewers ?? [];
  const checks = request.checks ?? [];
  const spec: TaskSpec = {
    title: titleOf(request.prompt),
    executors: [DEFAULT_EXECUTOR],
    rounds: reviewers.length + checks.length === 0 ? 1 : 3,
    attempts: 2,
    merge: "branch",
    approvedBy: "user",
    allow: "sandbox",
    after: [],
    onDependencyFailed: "ask",
    priority: 0,
    ...given(request),
    prompt: request.prompt,
    cwd: request.cwd,
    budget: { seconds: DEFAULT_SECONDS, ...given(request.budget ?? {}) },
    limits: {
      resume: "auto",
      maxWaitSeconds: DEFAULT_WAIT_SECONDS,
      ...given(limits),
      ...given(request.limits ?? {}),
    },
    reviewers,
    checks,
  };
  if (spec.approvedBy === "reviewer" && reviewers.length + checks.length === 0)
    throw new TaskRefusal("approvedBy: reviewer needs a reviewer or a check.");
  if ((spec.reviews ?? "first") !== "first" && reviewers.length < 2)
    throw new TaskRefusal(`reviews: ${spec.reviews} needs two reviewers or more.`);
  assertMergeable(spec, spec.merge);
  if (new Set(spec.after).size !== spec.after.length)
    throw new TaskRefusal("after lists the same task twice.");
  return spec;
}

/** Throws a `TaskRefusal` for a way to merge that a task cannot have. */
export function assertMergeable({ remote }: Pick<TaskSpec, "remote">, merge: MergeMode): void {
  if (remote !== undefined && ["squash", "rebase", "merge"].includes(merge))
    throw new TaskRefusal(`A task with a remote merges by none, branch or pr, not by ${merge}.`);
}

/** Returns the fields of a request that have a value; a field without one counts as absent. */
function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // The fields are those that were given, less the undefined ones.
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}

/** The first line of a prompt, as the title of its task. */
function titleOf(prompt: string): string {
  const [line = ""] = prompt.trim().split("\n");
  return shortened(line, 80) || "Untitled";
}

/** A cycle among tasks that come after each other, by their names; undefined if there is none. */
export function findCycle(after: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of after.get(name) ?? []) {
      const cycle = visit(next, [...path, name]);
      if (cycle !== undefined) return cycle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of after.keys()) {
    const cycle = visit(name, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
