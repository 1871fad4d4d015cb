import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { reduceTask, type TaskEvent, type TaskState } from "@flint/protocol";
import type { Invariant } from "./invariants.ts";
import { RESULT_FILE } from "./processes/worker-order.ts";

const run = promisify(execFile);

/** The repository that the tasks of a campaign work on, as its user has it checked out. */
export class CampaignRepository {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes one with a single commit. */
  static async make(path: string): Promise<CampaignRepository> {
    const repository = new CampaignRepository(path);
    await mkdir(path, { recursive: true });
    await repository.git("init", "-q", "-b", "main");
    await writeFile(join(path, "a.txt"), "one\n");
    await repository.git("add", ".");
    await repository.git("commit", "-q", "-m", "first");
    return repository;
  }

  async git(...args: string[]): Promise<string> {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    return (await run("git", [...who, ...args], { cwd: this.path })).stdout.trim();
  }

  /** Judges what the runs of all tasks left in the repository. */
  async judge(logs: ReadonlyMap<string, readonly TaskEvent[]>): Promise<Invariant> {
    const listed = await this.git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads");
    const branches = new Map(listed.split("\n").map((line) => line.split(" ") as [string, string]));
    const breaches: string[] = [];
    for (const [id, events] of logs) breaches.push(...(await this.#breachesOf(id, events, branches)));
    const merged = [...logs.values()].filter((events) => events.some(({ type }) => type === "task/merged"));
    if (merged.length === 0) breaches.push("no task has a result, so nothing was tried");
    if (branches.size !== merged.length + 1)
      breaches.push(`${branches.size - 1} branches for ${merged.length} results`);
    if ((await this.git("log", "--format=%s", "main")) !== "first") breaches.push("main was moved");
    if ((await this.git("status", "--porcelain")) !== "") breaches.push("the user's checkout was changed");
    return {
      name: "each result is in one branch, by the run that was accepted",
      ...{ seen: `${merged.length} branches`, breaches },
    };
  }

  async #breachesOf(
    id: string,
    events: readonly TaskEvent[],
    branches: ReadonlyMap<string, string>,
  ): Promise<string[]> {
    let state: TaskState | undefined;
    let author: string | undefined;
    for (const event of events) {
      state = reduceTask(id, state, event);
      if (event.type === "round/executed") author = state.run?.worker;
    }
    const { merged, result } = state ?? {};
    if (merged === undefined) return [];
    const branch = merged.ref.replace("refs/heads/", "");
    const written = await this.git("show", `${merged.commit}:${RESULT_FILE}`);
    return [
      ...(branches.get(branch) === merged.commit ? [] : [`${id}: ${branch} is not at what was merged`]),
      ...(merged.commit === result?.commit ? [] : [`${id}: what was merged is not the result`]),
      ...(written === author ? [] : [`${id}: ${author} had the task, but the result is of ${written}`]),
    ];
  }
}
