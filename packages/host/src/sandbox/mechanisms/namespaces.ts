import { shellQuote, singleQuote } from "@flint/core/text";
import { isPathIn } from "@flint/protocol";
import type { Confinement, Mount } from "./confinement.ts";
import {
  firstProcess,
  type Mechanism,
  mountinfoPath,
  SYSTEM_PATH,
  type Tools,
  temporaryBytes,
} from "./launch.ts";
import type { Bind, PrivateMount } from "./private-mounts.ts";

/** The user and group that the command runs as. */
export interface Identity {
  readonly user: number;
  readonly group: number;
}

const UNSHARE = ["--user", "--map-root-user", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"];

/** The script's own folder in the new /dev, for binds that are staged while their folder is covered. */
const STAGE = ".flint";

/**
 * The folder that holds the sources of private mounts until they are mounted, even if their own folder is
 * covered.
 */
const SOURCES = `/dev/${STAGE}/sources`;

/**
 * Confines with util-linux only, which every Debian has: a shell script in new namespaces sets up the file system, drops
 * all capabilities, and becomes the first process of the command.
 */
export class Namespaces implements Mechanism {
  readonly name = "namespaces";
  readonly loadsFilter: boolean;
  readonly #tools: Tools;
  readonly #identity: Identity;
  readonly #searchPath: string;

  constructor(tools: Tools, identity: Identity, searchPath: string) {
    this.loadsFilter = tools.filterLoader !== undefined;
    this.#tools = tools;
    this.#identity = identity;
    this.#searchPath = searchPath;
  }

  get networkHolder(): readonly string[] {
    const { setpriv, unshare } = this.#tools;
    return [
      ...[setpriv, "--pdeathsig", "KILL", "--"],
      ...[unshare, "--user", "--map-current-user", "--keep-caps", "--net", "--"],
      ...["/bin/sh", "-c", HOLDER_SCRIPT, "sh"],
    ];
  }

  launchArguments(command: readonly string[], confinement: Confinement): readonly string[] {
    const { setpriv, unshare, filterLoader } = this.#tools;
    const loader = confinement.filterDescriptor === undefined ? [] : (filterLoader ?? []);
    const steps = script(confinement, this.#identity, loader);
    return [
      ...[setpriv, "--pdeathsig", "KILL", "--"],
      ...[unshare, ...UNSHARE, ...(confinement.network ? [] : ["--net"]), "--"],
      ...["/bin/sh", "-c", steps, "sh", this.#searchPath, ...command],
    ];
  }
}

/** Brings the loopback interface up by whatever is there; perl makes the call of ifconfig itself (SIOCSIFFLAGS, IFF_UP). */
const LOOPBACK_UP = `ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null ||
perl -e 'socket(S, 2, 1, 0) && ioctl(S, 0x8914, pack("a16 s x22", "lo", 1)) || exit 1' 2>/dev/null`;

const HOLDER_SCRIPT = `PATH=${SYSTEM_PATH}
${LOOPBACK_UP} || { echo "no program can bring the loopback interface up (install iproute2)" >&2; exit 1; }
exec "$@"`;

function script(confinement: Confinement, identity: Identity, loader: readonly string[]): string {
  const { binds, masks, sockets, hidden, privateSources } = confinement;
  const covered = [...masks, "/dev"];
  const isCovered = (bind: Bind) => covered.some((folder) => isPathIn(bind.path, folder));
  const isWithin = (bind: Bind) => binds.some(({ path }) => path !== bind.path && isPathIn(bind.path, path));
  // A bind inside another one comes back with that one.
  const staged = binds.filter((bind) => isCovered(bind) && !isWithin(bind));
  const inTmp = staged.filter((bind) => isPathIn(bind.path, "/tmp"));
  const elsewhere = staged.filter((bind) => !inTmp.includes(bind));
  const mounts = confinement.mounts.map((mount, at) => ({ ...mount, stage: `/dev/${STAGE}/mount-${at}` }));
  const size = `size=${temporaryBytes()}`;
  return [
    "set -eu",
    `PATH=${SYSTEM_PATH}`,
    FUNCTIONS,
    "mount -n --make-rprivate /",
    newDev(size),
    ...elsewhere.map((bind) => `stage ${singleQuote(bind.path)} /tmp/${STAGE}/${staged.indexOf(bind)}`),
    "mount -n --move /tmp /dev",
    ...inTmp.map((bind) => `stage ${singleQuote(bind.path)} /dev/${STAGE}/${staged.indexOf(bind)}`),
    ...mounts.map(({ source, stage }) => `stage ${singleQuote(source)} ${stage}`),
    ...(privateSources === undefined ? [] : [`stage ${singleQuote(privateSources)} ${SOURCES}`]),
    ...masks.map((mask) => `mount -n -t tmpfs -o mode=1777,${size} tmpfs ${singleQuote(mask)}`),
    ...staged.map((bind, at) => `restore /dev/${STAGE}/${at} ${singleQuote(bind.path)}`),
    table(binds.filter((bind) => !staged.includes(bind)).map(bindLine)),
    ...confinement.privates.flatMap((mount, at) =>
      privateSteps(mount, stagedSource(privateSources), `/dev/${STAGE}/private-${at}`, size),
    ),
    ...(privateSources === undefined ? [] : [`umount -n ${SOURCES}`]),
    table(sockets.map(coverLine)),
    ...hidden.map((folder) => `mount -n -t tmpfs -o ro,mode=0755,size=4k tmpfs ${singleQuote(folder)}`),
    ...mounts.map(({ stage, target }) => placeMount(stage, target, confinement)),
    protection(confinement),
    `rm -r --one-file-system /dev/${STAGE}`,
    "mount -n -o remount,bind,ro /dev",
    ...lastSteps(confinement, identity, loader),
  ].join("\n");
}

/** `stage` sets a bind aside, `restore` moves it to its target; both work for folders and files. */
const FUNCTIONS = `
stage() { if [ -d "$1" ]; then mkdir "$2"; else : > "$2"; fi; mount -n --rbind "$1" "$2"; }
restore() {
  if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "$(dirname "$2")"; [ -e "$2" ] || : > "$2"; fi
  mount -n --move "$1" "$2"
}`;

/**
 * A /dev without disks, which root could write to despite read-only mounts. It is built at /tmp, which is covered later
 * anyway.
 */
function newDev(size: string): string {
  return `
mount -n -t tmpfs -o mode=755 tmpfs /tmp
mkdir /tmp/shm /tmp/pts /tmp/${STAGE}
{
  echo "tmpfs /tmp/shm tmpfs mode=1777,${size} 0 0"
  for name in null zero full random urandom tty; do
    : > "/tmp/$name"
    echo "/dev/$name /tmp/$name none bind 0 0"
  done
} > /tmp/${STAGE}/devices
mount -n -a -T /tmp/${STAGE}/devices
cp -d /dev/fd /dev/stdin /dev/stdout /dev/stderr /tmp
if mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /tmp/pts 2>/dev/null; then
  ln -s pts/ptmx /tmp/ptmx
fi`;
}

/** One call of `mount` for all lines, because each call costs as much as the command itself. */
function table(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const file = `/dev/${STAGE}/binds`;
  return `printf '%s\\n' ${lines.map(singleQuote).join(" ")} > ${file}\nmount -n -a -T ${file}`;
}

/**
 * Returns the steps for a private mount. Binds that are shown again are staged while the folder is covered.
 */
function privateSteps(
  { path, source, links, binds }: PrivateMount,
  stagedAt: (source: string) => string,
  stage: string,
  size: string,
): string[] {
  const staged = (at: number) => `${stage}-${at}`;
  const target = singleQuote(path);
  return [
    ...binds.map((bind, at) => `stage ${singleQuote(stagedAt(bind.source ?? bind.path))} ${staged(at)}`),
    source === undefined
      ? `mount -n -t tmpfs -o mode=0700,${size} tmpfs ${target}`
      : `mount -n --bind ${singleQuote(stagedAt(source))} ${target}`,
    ...links.map((link) => `ln -s -- ${singleQuote(link.target)} ${singleQuote(link.path)}`),
    ...binds.map((bind, at) => `restore ${staged(at)} ${singleQuote(bind.path)}`),
  ];
}

/**
 * Only what is in a folder of the sandbox's own is created, or in a masked one that shows nothing there: anything else could
 * be a link of the agent's that leads out.
 */
function placeMount(stage: string, target: string, { masks, binds }: Confinement): string {
  const isMasked = masks.some((mask) => isPathIn(target, mask));
  const isOwn =
    isPathIn(target, "/run/flint") || (isMasked && !binds.some(({ path }) => isPathIn(target, path)));
  return `${isOwn ? "restore" : "mount -n --move"} ${stage} ${singleQuote(target)}`;
}

/** Returns the function that maps a path to its place while the folder of private sources is staged. */
function stagedSource(folder: string | undefined): (source: string) => string {
  return (source) =>
    folder !== undefined && isPathIn(source, folder) ? SOURCES + source.slice(folder.length) : source;
}

function bindLine({ path }: Bind): string {
  return `${mountinfoPath(path)} ${mountinfoPath(path)} none rbind 0 0`;
}

function coverLine(path: string): string {
  return `/dev/null ${mountinfoPath(path)} none bind 0 0`;
}

/**
 * Makes every mount read-only that must not be written, keeping its options, which the kernel does not allow to drop.
 * Then verifies it: a mount that stays writable is harmless only if its path cannot be reached.
 */
function protection(confinement: Confinement): string {
  const { binds, privates } = confinement;
  // The deepest first, because the innermost of nested binds decides.
  const mounted = confinement.mounts.map(({ target, writable }: Mount) => ({ path: target, writable }));
  // A mount over a bind counts instead of it.
  const all = [...mounted, ...binds, ...privates.flatMap((mount) => mount.binds)].sort(
    (left, right) => right.path.length - left.path.length,
  );
  const exceptions = all.map(({ path, writable }) => {
    const point = singleQuote(mountinfoPath(path));
    return `${point}|${point}/*) ${writable ? "continue" : ""} ;;`;
  });
  const skip = (folder: string) => `${singleQuote(mountinfoPath(folder))}) continue ;;`;
  const own = privates.map(({ path }) => skip(path));
  const masks = confinement.masks.map(skip);
  const remaining = confinement.rootWritable ? "*) continue ;;" : "";
  const eachToProtect = `while read -r _ _ _ _ point options _; do
  case $point in
    ${[...own, ...exceptions, ...masks, remaining].join("\n    ")}
    /dev|/dev/*|/proc|/proc/*) continue ;;
  esac
  case $options in ro|ro,*) continue ;; esac`;
  const file = `/dev/${STAGE}/read-only`;
  return `
${eachToProtect}
  case $point in
    /) mount -n -i -o "remount,bind,$options,ro" / ;;
    *) printf '%s\\n' "none $point none remount,bind,$options,ro 0 0" >&3 ;;
  esac
done < /proc/self/mountinfo 3> ${file}
mount -n -i -a -T ${file} 2>/dev/null || :
${eachToProtect}
  path=$(printf '%b' "$point")
  [ ! -e "$path" ] || { echo "flint: cannot make $path read-only" >&2; exit 125; }
done < /proc/self/mountinfo`;
}

/** A new /proc, no further user namespaces, no capabilities, the filter; each step needs the ones before. */
function lastSteps(confinement: Confinement, { user, group }: Identity, loader: readonly string[]): string[] {
  const loopback = confinement.network ? [] : [`${LOOPBACK_UP} || true`];
  const proc = "mount -n -t proc -o nosuid,nodev,noexec proc /proc";
  const change = `cd ${singleQuote(confinement.cwd)}`;
  // The filter comes last, because it needs no privileges and the steps before must not need what it refuses.
  const filter = loader.map((word) => `${shellQuote(word)} `).join("");
  const first = `${filter}/bin/sh -c ${singleQuote(firstProcess(confinement))} sh "$@"`;
  if (user === 0) {
    const drop = "setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all --";
    const limit = "echo 0 > /proc/sys/user/max_user_namespaces";
    // Root can set kernel parameters as the owner of their files, without any capability.
    const lock = "mount -n -o remount,ro,nosuid,nodev,noexec /proc";
    return [...loopback, proc, limit, lock, change, `exec setsid ${drop} ${first}`];
  }
  // Another user namespace restores the user's own id and drops the capabilities.
  const nested = `unshare --user --map-user=${user} --map-group=${group} -- setpriv --no-new-privs --`;
  const limit = "echo 1 > /proc/sys/user/max_user_namespaces";
  return [...loopback, proc, limit, change, `exec setsid ${nested} ${first}`];
}
