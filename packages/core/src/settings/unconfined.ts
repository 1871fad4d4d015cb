import { resolve } from "node:path";
import { FlintError, isUnconfined, type SandboxPolicy, type ThreadSettings } from "@flint/protocol";

/** Whether unconfined work is allowed, and where the user's files are. */
export interface UnconfinedOptions {
  readonly allowUnconfined: boolean;
  readonly home?: string | undefined;
  realPath(path: string): string;
}

/**
 * Throws `invalidParams` for settings that confine nothing, unless the server was started with `--allow-unconfined`. To
 * be called where nothing is asked: for threads with the approval policy "never", and commands outside of any thread.
 */
export function rejectUnconfined(
  { sandboxPolicy, cwd }: Pick<ThreadSettings, "sandboxPolicy" | "cwd">,
  subject: "thread" | "command",
  options: UnconfinedOptions,
): void {
  if (options.allowUnconfined) return;
  const reason = unconfinedReason(sandboxPolicy, cwd, options);
  if (reason !== undefined) throw ERRORS[subject](reason);
}

const ERRORS = {
  thread: (reason: string) =>
    new FlintError(
      "invalidParams",
      `With the approval policy "never" and ${reason} an agent could do anything without asking. Choose one of them, or start Flint with --allow-unconfined.`,
      { field: "approvalPolicy" },
    ),
  command: (reason: string) =>
    new FlintError(
      "invalidParams",
      `With ${reason} a command could do anything without asking. Choose a narrower sandboxPolicy or cwd, or start Flint with --allow-unconfined.`,
      { field: "sandboxPolicy" },
    ),
};

/** Why a sandbox confines nothing, as text; undefined if it does. */
function unconfinedReason(
  policy: SandboxPolicy,
  cwd: string,
  { home, realPath }: UnconfinedOptions,
): string | undefined {
  if (isUnconfined(policy)) return `the sandbox "${policy.type}"`;
  if (policy.type === "readOnly") return undefined;
  const real = (path: string) => realPath(resolve(path));
  if (real(cwd) === "/") return "the whole file system as the workspace";
  const homes = home === undefined ? [] : [home, real(home)];
  const wide = policy.writableRoots?.find((root) => {
    const folder = real(root);
    return folder === "/" || homes.some((path) => `${path}/`.startsWith(`${folder}/`));
  });
  return wide === undefined ? undefined : `the writable root ${wide}`;
}
