import { resolve } from "node:path";
import { FlintError, isUnconfined, type SandboxPolicy, type ThreadSettings } from "@flint/protocol";

/** What decides whether a sandbox may be left out. */
export interface UnconfinedOptions {
  readonly allowUnconfined: boolean;
  readonly home?: string | undefined;
  realPath(path: string): string;
}

/**
 * Refuses to run anything unasked with a sandbox that holds nothing back. Whoever starts the server decides about this,
 * not whoever is connected to it. To be called where nobody is asked: for a thread that never asks, and for a command
 * outside of any thread.
 */
export function refuseUnconfined(
  { sandboxPolicy, cwd }: Pick<ThreadSettings, "sandboxPolicy" | "cwd">,
  subject: "thread" | "command",
  options: UnconfinedOptions,
): void {
  if (options.allowUnconfined) return;
  const width = widthOf(sandboxPolicy, cwd, options);
  if (width !== undefined) throw REFUSALS[subject](width);
}

const REFUSALS = {
  thread: (width: string) =>
    new FlintError(
      "invalidParams",
      `With the approval policy "never" and ${width} an agent could do anything unasked. Choose one of them, or start Flint with --allow-unconfined.`,
      { field: "approvalPolicy" },
    ),
  command: (width: string) =>
    new FlintError(
      "invalidParams",
      `With ${width} a command could do anything, and nobody is asked about it. Choose a narrower sandboxPolicy or cwd, or start Flint with --allow-unconfined.`,
      { field: "sandboxPolicy" },
    ),
};

/** What makes a sandbox none, in words; undefined if it holds something back. */
function widthOf(
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
