import { totalmem } from "node:os";
import type { Confinement } from "./confinement.ts";

/** A way to confine a command, by starting it through a wrapper program. */
export interface Mechanism {
  readonly name: MechanismName;
  /**
   * The program and arguments that run `command` confined, in its own session and process namespace. The wrapper exits
   * only when none of the processes it started is left.
   */
  wrap(command: readonly string[], confinement: Confinement): readonly string[];
}

/** All mechanisms, in order of preference. */
export const MECHANISM_NAMES = ["bubblewrap", "namespaces"] as const;
export type MechanismName = (typeof MECHANISM_NAMES)[number];

const GIGABYTE = 1024 ** 3;

/** The size limit of each private temporary folder: a quarter of the memory, at most four gigabytes. */
export function temporaryBytes(): number {
  return Math.min(4 * GIGABYTE, Math.floor(totalmem() / 4));
}

/** Where the system's own tools are, whatever the user's PATH is. */
export const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** The variable that passes the umask of commands to the starting shell; commands do not see it. */
export const UMASK_NAME = "FLINT_UMASK";

/** Restores the user's umask: Flint's own is too strict for files that commands create in the user's folders. */
export const TAKE_UMASK = `umask "$${UMASK_NAME}" 2>/dev/null; unset ${UMASK_NAME}`;

/**
 * The first process of a namespace: runs a command and exits with its code, upon which the kernel ends everything else.
 * The command itself is not the first process, because that one ignores ordinary signals. The first argument is the
 * PATH of the command. A line on descriptor 3 reports that the setup is done and the command starts. Descriptor 4
 * becomes the command's stderr, so that messages of the wrapper or of this shell about a killed command go elsewhere.
 * The command inherits neither descriptor.
 */
export const FIRST_PROCESS = `${TAKE_UMASK}; PATH=$1; shift; { echo >&3; } 2>/dev/null; exec 2>/dev/null 3>&-; (exec "$@" 2>&4 4>&-); exit $?`;

/** A path as mountinfo and an fstab spell it. */
export function mountinfoPath(path: string): string {
  return path.replace(
    /[ \t\n\\]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}
