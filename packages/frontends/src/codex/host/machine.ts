import type { Result } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import type { Handlers } from "../requests/handler.ts";
import { codexError } from "../wire/errors.ts";
import { sandboxPolicyOf } from "../wire/policies.ts";

type Machine = "command/exec" | "fs/readFile" | "fuzzyFileSearch" | "gitDiffToRemote";

/** The time that a search may take; what it found by then is the answer. */
const SEARCH_MS = 5_000;
const GIT_MS = 20_000;

/** Files and commands outside of threads. */
export const machine: Handlers<Machine> = {
  async "command/exec"(params, { core, reply }) {
    const { command, cwd, timeoutMs, sandboxPolicy } = params;
    if (params.tty === true || params.streamStdin === true || params.streamStdoutStderr === true) {
      throw codexError(
        "Flint runs commands to their end; a terminal, input or streamed output needs a thread.",
      );
    }
    if (command.length === 0) throw codexError("command must not be empty");
    const { exitCode, stdout, stderr } = await core.call("command/exec", {
      command,
      ...(cwd == null ? {} : { cwd }),
      ...(timeoutMs == null ? {} : { timeoutMs: Math.max(1, Math.round(timeoutMs)) }),
      ...(sandboxPolicy == null ? {} : { sandboxPolicy: sandboxPolicyOf(sandboxPolicy) }),
    });
    reply({ exitCode, stdout, stderr });
  },
  async "fs/readFile"({ path }, { reply }, { host }) {
    reply({ dataBase64: Buffer.from(await host.readFile(path)).toString("base64") });
  },
  async fuzzyFileSearch({ query, roots }, { reply }, { host }) {
    const found = await host.findFiles(query, roots, AbortSignal.timeout(SEARCH_MS));
    const files = found.map(({ root, path, isFolder, name, score, indices }) => ({
      root,
      path,
      match_type: isFolder ? ("directory" as const) : ("file" as const),
      file_name: name,
      score,
      indices: [...indices],
    }));
    reply({ files });
  },
  async gitDiffToRemote({ cwd }, { core, reply }) {
    const sha = await latestPushed(core, cwd);
    const { stdout: diff } = await git(core, cwd, ["diff", "--no-ext-diff", "--no-textconv", sha]);
    reply({ sha, diff: diff + (await untracked(core, cwd)) });
  },
};

/** The latest ancestor of the current commit that is on a remote branch. */
async function latestPushed(core: CoreCalls, cwd: string): Promise<string> {
  const remotes = await git(core, cwd, ["for-each-ref", "--count=1", "refs/remotes"]);
  const own = await git(core, cwd, ["rev-list", "--reverse", "HEAD", "--not", "--remotes"]);
  const oldest = own.stdout.split("\n")[0] ?? "";
  const revision = oldest === "" ? "HEAD" : `${oldest}^`;
  const { exitCode, stdout } = await git(core, cwd, ["rev-parse", "--verify", revision]);
  if (remotes.stdout !== "" && exitCode === 0) return stdout.trim();
  throw codexError(`failed to compute git diff to remote for cwd: ${JSON.stringify(cwd)}`);
}

/** Untracked files, as additions. */
async function untracked(core: CoreCalls, cwd: string): Promise<string> {
  const listed = await git(core, cwd, ["ls-files", "--others", "--exclude-standard", "-z"]);
  const parts: string[] = [];
  for (const name of listed.stdout
    .split("\0")
    .filter((each) => each !== "")
    .slice(0, 200)) {
    const args = ["diff", "--no-ext-diff", "--no-textconv", "--no-index", "--", "/dev/null", name];
    parts.push((await git(core, cwd, args)).stdout);
  }
  return parts.join("");
}

/** Runs git read-only: whatever the repository configures for it cannot do more than read. */
function git(core: CoreCalls, cwd: string, args: readonly string[]): Promise<Result<"command/exec">> {
  return core.call("command/exec", {
    command: ["git", "-c", "core.fsmonitor=false", ...args],
    cwd,
    timeoutMs: GIT_MS,
    sandboxPolicy: { type: "readOnly" },
  });
}
