import { MARK_NAME } from "../processes/process-list.ts";
import { FIRST_PROCESS, SYSTEM_PATH, TAKE_UMASK } from "./mechanism.ts";
import type { Tools } from "./namespaces.ts";

/** How the processes of an unconfined command are kept together, so that all of them can be ended. */
export interface Containment {
  /** `namespace`: the kernel ends everything with the first process. `group`: processes are found by their mark. */
  readonly kind: "namespace" | "group";
  wrap(command: readonly string[]): readonly string[];
}

/** Mounts that the command makes persist; only /proc is private, to show its own processes. */
const SCRIPT = `commandPath=$1; shift
PATH=${SYSTEM_PATH}
mount -n --make-private /proc && mount -n -t proc proc /proc || exit 125
exec setsid /bin/sh -c '${FIRST_PROCESS}' sh "$commandPath" "$@"`;

const UNSHARE = ["--pid", "--mount", "--propagation", "unchanged", "--fork", "--kill-child", "--"];

/** A process namespace for commands of root. Other users would need a user namespace, in which `sudo` does not work. */
export class NamespaceContainment implements Containment {
  readonly kind = "namespace";
  readonly #tools: Tools;
  readonly #searchPath: string;

  constructor(tools: Tools, searchPath: string) {
    this.#tools = tools;
    this.#searchPath = searchPath;
  }

  wrap(command: readonly string[]): readonly string[] {
    return [
      ...[this.#tools.setpriv, "--pdeathsig", "KILL", "--", this.#tools.unshare, ...UNSHARE],
      ...["/bin/sh", "-c", SCRIPT, "sh", this.#searchPath, ...command],
    ];
  }
}

/**
 * Waits in the background for the end of the server, which closes descriptor 3, and then kills everything that has the
 * mark of the command. It is not part of the command: neither a child of it nor on its output.
 */
const GUARD = `trap "" HUP INT TERM; read -r _ <&3
for file in $(grep -lzxF "$0" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}; pid=\${pid%/environ}
  [ "$pid" = $$ ] || kill -KILL "$pid"
done`;

const GUARDED = `(/bin/sh -c '${GUARD}' "${MARK_NAME}=$${MARK_NAME}" >/dev/null 2>&1 &)
${TAKE_UMASK}
exec "$@" 3<&-`;

/** A session of its own, and a watcher for when the server dies. */
export class GroupContainment implements Containment {
  readonly kind = "group";

  wrap(command: readonly string[]): readonly string[] {
    return ["/bin/sh", "-c", GUARDED, "sh", ...command];
  }
}
