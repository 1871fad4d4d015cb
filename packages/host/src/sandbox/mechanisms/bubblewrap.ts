import type { Bind, Confinement, PrivateMount } from "./confinement.ts";
import { FIRST_PROCESS, type Mechanism, temporaryBytes } from "./mechanism.ts";

const NAMESPACES = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];

/**
 * Without dropped capabilities root remounts its way out, also from a user namespace of its own. The first process
 * is ours (`--as-pid-1`), because bwrap's own leaves before what the command started in the background is gone.
 */
const HOLDS = ["--cap-drop", "ALL", "--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1"];

/** Confines with the program `bwrap`, found at `program`. */
export class Bubblewrap implements Mechanism {
  readonly name = "bubblewrap";
  readonly #program: string;
  readonly #searchPath: string;

  constructor(program: string, searchPath: string) {
    this.#program = program;
    this.#searchPath = searchPath;
  }

  wrap(command: readonly string[], confinement: Confinement): readonly string[] {
    return [
      this.#program,
      ...[confinement.rootWritable ? "--bind" : "--ro-bind", "/", "/"],
      ...["--dev", "/dev", "--proc", "/proc"],
      ...["/dev/shm", ...confinement.masks].flatMap((mask) => temporaryArguments(mask)),
      ...confinement.binds.flatMap(bindArguments),
      ...confinement.privates.flatMap(privateArguments),
      ...confinement.sockets.flatMap((socket) => ["--ro-bind", "/dev/null", socket]),
      ...confinement.hidden.flatMap((folder) => ["--tmpfs", folder, "--remount-ro", folder]),
      // Root may set kernel parameters by owning their files, without any capability. /dev has no bound of its own.
      ...["--remount-ro", "/proc", "--remount-ro", "/dev"],
      ...["--chdir", confinement.cwd],
      ...NAMESPACES,
      ...(confinement.network ? [] : ["--unshare-net"]),
      ...HOLDS,
      "--",
      ...["/bin/sh", "-c", FIRST_PROCESS, "sh", this.#searchPath, ...command],
    ];
  }
}

function privateArguments({ path, links, binds }: PrivateMount): string[] {
  return [
    ...["--perms", "0700", "--size", String(temporaryBytes()), "--tmpfs", path],
    ...links.flatMap((link) => ["--symlink", link.target, link.path]),
    ...binds.flatMap(bindArguments),
  ];
}

/** Bounded, because what is written there is kept in memory. */
function temporaryArguments(folder: string): string[] {
  return ["--perms", "1777", "--size", String(temporaryBytes()), "--tmpfs", folder];
}

function bindArguments(bind: Bind): string[] {
  return [bind.writable ? "--bind" : "--ro-bind", bind.path, bind.path];
}
