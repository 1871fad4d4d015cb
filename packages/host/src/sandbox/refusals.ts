import { type ConfinedPolicy, FlintError } from "@flint/protocol";

/** More sockets than any machine has outside of the masked folders; each is a mount. */
export const MAX_SOCKETS = 200;

/** The error for a command that would leave sockets uncovered. */
export function tooManySockets([first = "", ...others]: readonly string[]): FlintError {
  const message = `Did not run the command: ${first} and ${others.length} other sockets would have to be covered, and the limit is ${MAX_SOCKETS}. End the programs that listen there, or choose --sandbox danger-full-access (dangerFullAccess).`;
  return new FlintError("sandboxUnavailable", message, { path: first });
}

/** Notice about what is not offered without bubblewrap. */
export const NO_BROKER =
  "Commands of Claude and Codex cannot leave their sandbox, even if you allow it; the approval says so. Agents start MCP servers in their own sandbox and can read the keys of these. Install bubblewrap (apt-get install bubblewrap).";

/** Advice for machines on which nothing can be confined. */
export const WAY_OUT =
  "Install bubblewrap (apt-get install bubblewrap), or choose --sandbox danger-full-access (dangerFullAccess), or --sandbox external-sandbox (externalSandbox) where something else confines Flint.";

/** The names of the policies on the command line and in the protocol. */
const POLICY_NAMES: Readonly<Record<ConfinedPolicy["type"], string>> = {
  readOnly: "read-only (readOnly)",
  workspaceWrite: "workspace-write (workspaceWrite)",
};

/** The error for a command that cannot be confined as its policy says. */
export function unavailable(
  command: readonly string[],
  { type }: ConfinedPolicy,
  failures: readonly string[],
): FlintError {
  const shown = shownCommand(command);
  const reasons = failures.length === 0 ? "" : ` (${failures.join("; ")})`;
  const message = `Did not run "${shown}": --sandbox ${POLICY_NAMES[type]} cannot be enforced here${reasons}. ${WAY_OUT}`;
  return new FlintError("sandboxUnavailable", message, { command: shown, policy: type });
}

/** The error for a command that was allowed named hosts where connections cannot be filtered. */
export function cannotFilter(command: readonly string[]): FlintError {
  const shown = shownCommand(command);
  const message = `Did not run "${shown}": named hosts cannot be opened for one command here (see flint doctor). Install bubblewrap, or choose --network all.`;
  return new FlintError("sandboxUnavailable", message, { command: shown });
}

/** Notice about what is refused where no seccomp filter can be loaded, as sentences. */
export const NO_FILTER =
  "Commands and agents in a sandbox do not start, because nothing here can load the seccomp filter that keeps them from sockets which no network namespace confines (vsock, packet, AF_ALG). Install bubblewrap or perl (apt-get install bubblewrap); there is no filter for processors other than x64, arm64, riscv64 and loong64. Or choose --network all, which leaves the network open.";

/** The error for a command whose network would not be closed completely. */
export function cannotLoadFilter(command: readonly string[]): FlintError {
  const shown = shownCommand(command);
  return new FlintError("sandboxUnavailable", `Did not run "${shown}": ${NO_FILTER}`, { command: shown });
}

/** The command without the shell that runs it. */
function shownCommand(command: readonly string[]): string {
  const [program = "", flag = "", script, ...rest] = command;
  const isScript = /(?:^|\/)(?:ba|da|z)?sh$/.test(program) && /^-[a-z]*c$/.test(flag) && rest.length === 0;
  return isScript && script !== undefined ? script : command.join(" ");
}
