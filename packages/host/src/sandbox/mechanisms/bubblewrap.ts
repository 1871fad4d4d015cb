import type { Confinement, Mount } from "./confinement.ts";
import { firstProcess, type Mechanism, temporaryBytes } from "./launch.ts";
import type { PrivateBind, PrivateMount } from "./private-mounts.ts";

const NAMESPACES = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];

/**
 * With capabilities, root could remount its way out, even from its own user namespace. The first process is ours
 * (`--as-pid-1`), because bwrap's own exits before the command's background processes have ended.
 */
const RESTRICTIONS = [
  "--cap-drop",
  "ALL",
  "--disable-userns",
  "--die-with-parent",
  "--new-session",
  "--as-pid-1",
];

/** Confines with the program `bwrap`, found at `program`. */
export class Bubblewrap implements Mechanism {
  readonly name = "bubblewrap";
  readonly loadsFilter = true;
  readonly program: string;
  readonly #searchPath: string;

  constructor(program: string, searchPath: string) {
    this.program = program;
    this.#searchPath = searchPath;
  }

  get networkHolder(): readonly string[] {
    // Without --dev, for which bubblewrap would nest a second user namespace that does not own the network.
    const namespaces = ["--unshare-user", "--unshare-net", "--die-with-parent"];
    return [this.program, ...namespaces, "--ro-bind", "/", "/", "--"];
  }

  launchArguments(command: readonly string[], confinement: Confinement): readonly string[] {
    return [
      this.program,
      ...[confinement.rootWritable ? "--bind" : "--ro-bind", "/", "/"],
      ...["--dev", "/dev", "--proc", "/proc"],
      ...["/dev/shm", ...confinement.masks].flatMap((mask) => temporaryArguments(mask)),
      ...confinement.binds.flatMap(bindArguments),
      ...confinement.privates.flatMap(privateArguments),
      ...confinement.sockets.flatMap((socket) => ["--ro-bind", "/dev/null", socket]),
      ...confinement.hidden.flatMap((folder) => ["--tmpfs", folder, "--remount-ro", folder]),
      ...confinement.mounts.flatMap(mountArguments),
      // Root can set kernel parameters as the owner of their files, without any capability. /dev has no size limit.
      ...["--remount-ro", "/proc", "--remount-ro", "/dev"],
      ...["--chdir", confinement.cwd],
      ...NAMESPACES,
      ...(confinement.network ? [] : ["--unshare-net"]),
      ...RESTRICTIONS,
      ...(confinement.filterDescriptor === undefined
        ? []
        : ["--seccomp", String(confinement.filterDescriptor)]),
      "--",
      ...["/bin/sh", "-c", firstProcess(confinement), "sh", this.#searchPath, ...command],
    ];
  }
}

function privateArguments({ path, source, links, binds }: PrivateMount): string[] {
  const inMemory = ["--perms", "0700", "--size", String(temporaryBytes()), "--tmpfs", path];
  return [
    ...(source === undefined ? inMemory : ["--bind", source, path]),
    ...links.flatMap((link) => ["--symlink", link.target, link.path]),
    ...binds.flatMap(bindArguments),
  ];
}

/** Bounded, because its content is in memory. */
function temporaryArguments(folder: string): string[] {
  return ["--perms", "1777", "--size", String(temporaryBytes()), "--tmpfs", folder];
}

function mountArguments({ source, target, writable }: Mount): string[] {
  return [writable ? "--bind" : "--ro-bind", source, target];
}

function bindArguments({ path, writable, source = path }: PrivateBind): string[] {
  return [writable ? "--bind" : "--ro-bind", source, path];
}
