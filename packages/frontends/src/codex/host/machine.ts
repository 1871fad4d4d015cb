import type { Result } from "@flint/protocol";
import { sandboxPolicyOf } from "../policies.ts";
import { refused } from "../refusals.ts";
import type { Handlers, Visit } from "../visit.ts";

type Machine = "command/exec" | "fs/readFile" | "fuzzyFileSearch" | "gitDiffToRemote";

/** How long a search may take before what was found so far is all. */
const SEARCH_MS = 5_000;
const GIT_MS = 20_000;

/** Files and commands outside of any thread. */
export const machine: Handlers<Machine> = {
  async "command/exec"(params, visit, reply) {
    const { command, cwd, timeoutMs, sandboxPolicy } = params;
    if (params.tty === true || params.streamStdin === true || params.streamStdoutStderr === true) {
      throw refused("Flint runs commands to their end; a terminal, input or streamed output needs a thread.");
    }
    if (command.length === 0) throw refused("command must not be empty");
    const { exitCode, stdout, stderr } = await visit.client.core.call("command/exec", {
      command,
      ...(cwd == null ? {} : { cwd }),
      ...(timeoutMs == null ? {} : { timeoutMs: Math.max(1, Math.round(timeoutMs)) }),
      ...(sandboxPolicy == null ? {} : { sandboxPolicy: sandboxPolicyOf(sandboxPolicy) }),
    });
    reply({ exitCode, stdout, stderr });
  },
  async "fs/readFile"({ path }, { host }, reply) {
    reply({ dataBase64: Buffer.from(await host.readFile(path)).toString("base64") });
  },
  async fuzzyFileSearch({ query, roots }, { host }, reply) {
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
  async gitDiffToRemote({ cwd }, visit, reply) {
    const sha = await lastPublished(visit, cwd);
    const { stdout: diff } = await git(visit, cwd, ["diff", "--no-ext-diff", "--no-textconv", sha]);
    reply({ sha, diff: diff + (await untracked(visit, cwd)) });
  },
};

/** The latest commit below the present one that some remote branch has. */
async function lastPublished(visit: Visit, cwd: string): Promise<string> {
  const remotes = await git(visit, cwd, ["for-each-ref", "--count=1", "refs/remotes"]);
  const own = await git(visit, cwd, ["rev-list", "--reverse", "HEAD", "--not", "--remotes"]);
  const oldest = own.stdout.split("\n")[0] ?? "";
  const wanted = oldest === "" ? "HEAD" : `${oldest}^`;
  const { exitCode, stdout } = await git(visit, cwd, ["rev-parse", "--verify", wanted]);
  if (remotes.stdout !== "" && exitCode === 0) return stdout.trim();
  throw refused(`failed to compute git diff to remote for cwd: ${JSON.stringify(cwd)}`);
}

/** New files that git does not know yet, as additions. */
async function untracked(visit: Visit, cwd: string): Promise<string> {
  const listed = await git(visit, cwd, ["ls-files", "--others", "--exclude-standard", "-z"]);
  const parts: string[] = [];
  for (const name of listed.stdout
    .split("\0")
    .filter((each) => each !== "")
    .slice(0, 200)) {
    const args = ["diff", "--no-ext-diff", "--no-textconv", "--no-index", "--", "/dev/null", name];
    parts.push((await git(visit, cwd, args)).stdout);
  }
  return parts.join("");
}

/** Reading only: whatever the repository configures for git cannot do more than read. */
function git(visit: Visit, cwd: string, args: readonly string[]): Promise<Result<"command/exec">> {
  return visit.client.core.call("command/exec", {
    command: ["git", "-c", "core.fsmonitor=false", ...args],
    cwd,
    timeoutMs: GIT_MS,
    sandboxPolicy: { type: "readOnly" },
  });
}
