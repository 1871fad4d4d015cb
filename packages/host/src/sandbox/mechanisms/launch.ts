import { totalmem } from "node:os";
import { singleQuote } from "@flint/core/text";
import { MARK_NAME } from "../processes/process-tree.ts";
import type { Confinement, ExpectedFolder } from "./confinement.ts";

/**
 * A way to confine a command, by starting it through a wrapper program. An implementation is the only place where a
 * confinement becomes launch arguments: what a `Confinement` can express has to be enforced by each of them.
 */
export interface Mechanism {
  readonly name: MechanismName;
  /** True if it applies `filterDescriptor` of a confinement. */
  readonly loadsFilter: boolean;
  /**
   * The arguments before a program that holds the network of a scope: it runs in a user and a network
   * namespace of its own, in which the user's id is unchanged and the loopback interface is up, and dies with
   * this process.
   */
  readonly networkHolder: readonly string[];
  /**
   * The program and arguments that run `command` confined, in its own session and process namespace. The wrapper exits
   * only when none of the processes it started is left.
   */
  launchArguments(command: readonly string[], confinement: Confinement): readonly string[];
}

/**
 * The descriptor at which a wrapper finds the seccomp filter: the first after those that every confined
 * command is started with.
 */
export const FILTER_DESCRIPTOR = 5;

/** All mechanisms, in order of preference. */
export const MECHANISM_NAMES = ["bubblewrap", "namespaces"] as const;
export type MechanismName = (typeof MECHANISM_NAMES)[number];

const GIGABYTE = 1024 ** 3;

/** The size limit of each private temporary folder: a quarter of the memory, at most four gigabytes. */
export function temporaryBytes(): number {
  return Math.min(4 * GIGABYTE, Math.floor(totalmem() / 4));
}

/** The folders of the system's own tools, independent of the user's PATH. */
export const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Variables that make a program load code or write files before it does its own work: those of the linker and the C library,
 * of shells, of perl and of mount.
 */
const LOADING =
  /^(?:LD_|DYLD_|GLIBC_|GCONV_PATH$|GETCONF_DIR$|LOCPATH$|NLSPATH$|MALLOC_|PERL|BASH|SHELLOPTS$|PS4$|ENV$|CDPATH$|LIBMOUNT_)/;

/** The environment of a wrapper, and what goes before a command in its sandbox. */
export interface SplitVariables {
  readonly outer: Readonly<Record<string, string>>;
  readonly prefix: readonly string[];
}

/**
 * Keeps from a wrapper, which runs outside of the sandbox, what would make it load code that an agent can write: the command
 * gets such variables inside.
 */
export function splitVariables(environment: Readonly<Record<string, string | undefined>>): SplitVariables {
  const outer: Record<string, string> = {};
  const inner: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    if (LOADING.test(name)) inner.push(`${name}=${value}`);
    else outer[name] = value;
  }
  return { outer, prefix: inner.length === 0 ? [] : ["/usr/bin/env", ...inner] };
}

/** The variable that passes the umask of commands to the starting shell; commands do not see it. */
export const UMASK_NAME = "FLINT_UMASK";

/** Restores the user's umask: Flint's own is too strict for files that commands create in the user's folders. */
const RESTORE_UMASK = `umask "$${UMASK_NAME}" 2>/dev/null; unset ${UMASK_NAME}`;

/**
 * The first process of a namespace: runs a command and exits with its code, upon which the kernel ends everything else.
 * The command itself is not the first process, because that one ignores ordinary signals. The first argument is the
 * PATH of the command. A line on descriptor 3 reports that the setup is done and the command starts. Descriptor 4
 * becomes the command's stderr, so that messages of the wrapper or of this shell about a killed command go elsewhere.
 * The command inherits neither descriptor.
 */
export const FIRST_PROCESS = `${RESTORE_UMASK}; PATH=$1; shift; { echo >&3; } 2>/dev/null; exec 2>/dev/null 3>&- ${FILTER_DESCRIPTOR}<&-; (exec "$@" 2>&4 4>&-); exit $?`;

/**
 * The same, for a confinement whose folders have to be the expected ones. It looks when everything is mounted, because a
 * path could be made a link between the last look at it and its mount. Then nothing has run.
 */
export function firstProcess({ expected }: Pick<Confinement, "expected">): string {
  return [...(expected.length === 0 ? [] : [EXPECT]), ...expected.map(expectation), FIRST_PROCESS].join("\n");
}

const EXPECT = `expect() {
  found=$(PATH=${SYSTEM_PATH} stat -c %d:%i -- "$1" 2>/dev/null)
  isThere=$3
  while read -r _ _ _ _ point _; do [ "$point" != "$4" ] || isThere=yes; done < /proc/self/mountinfo
  [ "$found" = "$2" ] && [ "$isThere" = yes ] && return
  echo "flint: $1 was replaced while the sandbox was set up" >&2
  exit 125
}`;

function expectation({ path, node, isMounted }: ExpectedFolder): string {
  const words = [path, node, isMounted ? "no" : "yes", mountinfoPath(path)];
  return `expect ${words.map(singleQuote).join(" ")}`;
}

/**
 * Maximum number of times that a sandbox is set up for one command. A path that vanishes between listing and
 * mounting makes the setup fail before the command has run, so it is tried again.
 */
export const MAX_ATTEMPTS = 5;

/** Retries until the command has started; the last attempt reports its result in any case. */
export async function retryStart<Value>(
  attempt: (isLast: boolean) => Promise<Value | undefined>,
): Promise<Value> {
  for (let count = 1; count < MAX_ATTEMPTS; count += 1) {
    const value = await attempt(false);
    if (value !== undefined) return value;
  }
  const value = await attempt(true);
  if (value === undefined) throw new Error("The last attempt to start a command has no result.");
  return value;
}

/** A path as mountinfo and an fstab spell it. */
export function mountinfoPath(path: string): string {
  return path.replace(
    /[ \t\n\\]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}

/** The util-linux programs that start a command, as absolute paths. */
export interface Tools {
  readonly setpriv: string;
  readonly unshare: string;
  /**
   * The arguments before a command that load the seccomp filter of `FILTER_DESCRIPTOR`; absent if nothing
   * here can load it.
   */
  readonly filterLoader?: readonly string[] | undefined;
}

/** The means that keep the processes of an unconfined command together, so that all of them can be ended. */
export interface Containment {
  /** `namespace`: the kernel ends everything with the first process. `group`: processes are found by their mark. */
  readonly kind: "namespace" | "group";
  launchArguments(command: readonly string[]): readonly string[];
}

/** Mounts that the command makes persist; only /proc is private, to show its own processes. */
const NAMESPACE_SCRIPT = `commandPath=$1; shift
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

  launchArguments(command: readonly string[]): readonly string[] {
    return [
      ...[this.#tools.setpriv, "--pdeathsig", "KILL", "--", this.#tools.unshare, ...UNSHARE],
      ...["/bin/sh", "-c", NAMESPACE_SCRIPT, "sh", this.#searchPath, ...command],
    ];
  }
}

/**
 * Waits in the background for the end of the server, which closes descriptor 3, and then kills everything that has the
 * mark of the command. It is not part of the command: neither a child of it nor on its output.
 */
const WATCHER = `trap "" HUP INT TERM; read -r _ <&3
for file in $(grep -lzxF "$0" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}; pid=\${pid%/environ}
  [ "$pid" = $$ ] || kill -KILL "$pid"
done`;

const GROUP_SCRIPT = `(/bin/sh -c '${WATCHER}' "${MARK_NAME}=$${MARK_NAME}" >/dev/null 2>&1 &)
${RESTORE_UMASK}
exec "$@" 3<&-`;

/** A session of its own, and a watcher for when the server dies. */
export class GroupContainment implements Containment {
  readonly kind = "group";

  launchArguments(command: readonly string[]): readonly string[] {
    return ["/bin/sh", "-c", GROUP_SCRIPT, "sh", ...command];
  }
}
