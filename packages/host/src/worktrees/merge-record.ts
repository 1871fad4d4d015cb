import type { GitCommand } from "../git/git-command.ts";

/** A branch that a result was merged into, and the commit that it got. */
export interface RecordedMerge {
  readonly ref: string;
  readonly commit: string;
}

const REFS = "refs/";

/**
 * The record of one result's merge, written together with the branch: a merge whose worker died before it could report
 * is found again instead of being done twice. Its ref has the name of the branch at its end.
 */
export class MergeRecord {
  readonly #git: GitCommand;
  readonly #prefix: string;

  /** `prefix` is the ref under which the merges of this one result are recorded. */
  constructor(git: GitCommand, prefix: string) {
    this.#git = git;
    this.#prefix = prefix;
  }

  /**
   * The merge that was done already. The branch may have been renamed or merged and deleted since; a record whose commit
   * is in no branch was cut off, and is removed.
   */
  async find(): Promise<RecordedMerge | undefined> {
    const listed = await this.#git.run([
      "for-each-ref",
      "--format=%(objectname) %(refname)",
      `${this.#prefix}/`,
    ]);
    for (const line of listed.split("\n").filter((each) => each !== "")) {
      const [commit = "", record = ""] = line.split(" ");
      const ref = `${REFS}${record.slice(this.#prefix.length + 1)}`;
      const branches = await this.#git.run([
        "for-each-ref",
        "--count=1",
        `--contains=${commit}`,
        "refs/heads/",
      ]);
      if (branches !== "") return { ref, commit };
      await this.#git.run(["update-ref", "--no-deref", "-d", record, commit]);
    }
    return undefined;
  }

  /** Moves a branch and records it; false if the branch has moved, or another run has merged the result. */
  async move(ref: string, commit: string, before: string): Promise<boolean> {
    const record = `${this.#prefix}/${ref.slice(REFS.length)}`;
    // The record comes first: should only one of the two reach the disk, the merge is done again.
    const lines = ["start", `create ${record} ${commit}`, `update ${ref} ${commit} ${before}`, "commit", ""];
    const moved = await this.#git.attempt(["update-ref", "--no-deref", "--stdin"], lines.join("\n"));
    return moved.exitCode === 0;
  }
}
