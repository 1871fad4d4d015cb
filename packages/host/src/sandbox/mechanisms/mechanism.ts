import { totalmem } from "node:os";
import type { Confinement } from "./confinement.ts";

/** A way to confine a command, by starting it through another program. */
export interface Mechanism {
  readonly name: MechanismName;
  /**
   * Program and arguments that run `command` confined, in its own session and process namespace. The program that
   * is started ends only when nothing is left of what it started.
   */
  wrap(command: readonly string[], confinement: Confinement): readonly string[];
}

/** The ways there are, in the order of preference. */
export const MECHANISM_NAMES = ["bubblewrap", "namespaces"] as const;
export type MechanismName = (typeof MECHANISM_NAMES)[number];

const GIGABYTE = 1024 ** 3;

/** How much a command may keep in each folder for temporary files: a quarter of the memory, at most four gigabytes. */
export function temporaryBytes(): number {
  return Math.min(4 * GIGABYTE, Math.floor(totalmem() / 4));
}

/** Where the tools of the system are, whatever the user's search path says. */
export const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** The variable that tells the starting shell with which umask commands run; commands do not see it. */
export const UMASK_NAME = "FLINT_UMASK";

/** Flint's own umask keeps everybody else out, which is too strict for what a command makes in the user's folders. */
export const TAKE_UMASK = `umask "$${UMASK_NAME}" 2>/dev/null; unset ${UMASK_NAME}`;

/**
 * The first process of a namespace: runs a command and ends with its exit code, upon which the kernel ends all the
 * rest. The command itself is not the first process, because that one would be deaf to ordinary signals. Its first
 * argument is the search path for the command. A line on descriptor 3 says that everything is arranged and the command
 * begins. Descriptor 4 becomes the stderr of the command: what the wrapper or this shell says about a killed command
 * goes to another one. The command gets hold of neither.
 */
export const FIRST_PROCESS = `${TAKE_UMASK}; PATH=$1; shift; { echo >&3; } 2>/dev/null; exec 2>/dev/null 3>&-; (exec "$@" 2>&4 4>&-); exit $?`;
