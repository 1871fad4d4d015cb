import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";

/** A worktree whose index is what its files are to become. */
export interface FilesRequest {
  /** The private folder that contains the worktree. */
  readonly home: string;
  readonly top: string;
  readonly environment: Readonly<Record<string, string>>;
}

const CHECK_OUT = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false checkout-index --all --force";
const TEN_MINUTES = 600_000;

/**
 * Writes the files of a worktree as its index has them. Runs in the sandbox: a filter that the user has configured may be
 * a program of the worktree, which an agent has written.
 */
export async function writeFiles(
  sandbox: Pick<Sandbox, "launch">,
  { home, top, environment }: FilesRequest,
): Promise<void> {
  let printed = "";
  const { exitCode } = await sandbox.launch({
    command: ["/bin/sh", "-c", CHECK_OUT],
    cwd: top,
    // Not the worktree itself: at the top of a workspace, the settings of tools cannot be written.
    workspace: home,
    policy: { type: "workspaceWrite" },
    environment,
    timeoutMs: TEN_MINUTES,
    onOutput: (text) => {
      printed = `${printed}${text}`.slice(-2000);
    },
  });
  if (exitCode === 0) return;
  const reason = printed.trim() || `exit ${exitCode}`;
  throw new FlintError("internalError", `The files of the task cannot be checked out: ${reason}`);
}
