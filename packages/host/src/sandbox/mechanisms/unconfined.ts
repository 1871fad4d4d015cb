import { MARK_NAME } from "../processes/process-list.ts";
import { FIRST_PROCESS, SYSTEM_PATH, TAKE_UMASK } from "./mechanism.ts";
import type { Tools } from "./namespaces.ts";

/** How a command that may touch everything is kept together, so that all of it can be ended. */
export interface Leash {
  /** `namespace`: the kernel ends everything with the first process. `group`: it has to be searched for by its mark. */
  readonly kind: "namespace" | "group";
  wrap(command: readonly string[]): readonly string[];
}

/** Mounts made by the command stay where they were made; only /proc is its own, to show its own processes. */
const SCRIPT = `commandPath=$1; shift
PATH=${SYSTEM_PATH}
mount -n --make-private /proc && mount -n -t proc proc /proc || exit 125
exec setsid /bin/sh -c '${FIRST_PROCESS}' sh "$commandPath" "$@"`;

const UNSHARE = ["--pid", "--mount", "--propagation", "unchanged", "--fork", "--kill-child", "--"];

/** A process namespace for a command of root. Others would need a user namespace, which takes `sudo` away from them. */
export class NamespaceLeash implements Leash {
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
 * Waits in the background for the end of the server, which closes descriptor 3, and then ends everything that
 * carries the mark of the command. It has no part in the command: neither its child nor its output.
 */
const GUARD = `trap "" HUP INT TERM; read -r _ <&3
for file in $(grep -lzxF "$0" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}; pid=\${pid%/environ}
  [ "$pid" = $$ ] || kill -KILL "$pid"
done`;

const GUARDED = `(/bin/sh -c '${GUARD}' "${MARK_NAME}=$${MARK_NAME}" >/dev/null 2>&1 &)
${TAKE_UMASK}
exec "$@" 3<&-`;

/** A session of its own, and a guard for when the server dies. */
export class GroupLeash implements Leash {
  readonly kind = "group";

  wrap(command: readonly string[]): readonly string[] {
    return ["/bin/sh", "-c", GUARDED, "sh", ...command];
  }
}
