import { type Bind, type Confinement, isInside } from "./confinement.ts";
import { FIRST_PROCESS, type Mechanism, SYSTEM_PATH } from "./mechanism.ts";

/** Who the command runs as. */
export interface Identity {
  readonly user: number;
  readonly group: number;
}

/** The programs of util-linux that start a command, as absolute paths. */
export interface Tools {
  readonly setpriv: string;
  readonly unshare: string;
}

const UNSHARE = ["--user", "--map-root-user", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"];

/** Where binds wait while the folder that they come from is covered. Lies in the /dev that the script makes. */
const STAGE = ".flint";

/**
 * Confines with nothing but util-linux, which every Debian has: a shell script in new namespaces arranges the file
 * system, gives up all capabilities, and becomes the first process of the command.
 */
export class Namespaces implements Mechanism {
  readonly name = "namespaces";
  readonly #tools: Tools;
  readonly #identity: Identity;
  readonly #searchPath: string;

  constructor(tools: Tools, identity: Identity, searchPath: string) {
    this.#tools = tools;
    this.#identity = identity;
    this.#searchPath = searchPath;
  }

  wrap(command: readonly string[], confinement: Confinement): readonly string[] {
    return [
      ...[this.#tools.setpriv, "--pdeathsig", "KILL", "--"],
      ...[this.#tools.unshare, ...UNSHARE, ...(confinement.network ? [] : ["--net"]), "--"],
      ...["/bin/sh", "-c", script(confinement, this.#identity), "sh", this.#searchPath, ...command],
    ];
  }
}

function script(confinement: Confinement, identity: Identity): string {
  const covered = [...confinement.masks, "/dev"];
  const staged = confinement.binds.filter((bind) => covered.some((folder) => isInside(bind.path, folder)));
  const inTmp = staged.filter((bind) => isInside(bind.path, "/tmp"));
  const elsewhere = staged.filter((bind) => !inTmp.includes(bind));
  return [
    "set -eu",
    `PATH=${SYSTEM_PATH}`,
    FUNCTIONS,
    "mount -n --make-rprivate /",
    NEW_DEV,
    ...elsewhere.map((bind) => `stage ${quoted(bind.path)} /tmp/dev/${STAGE}/${staged.indexOf(bind)}`),
    "mount -n --move /tmp/dev /dev",
    "umount -n /tmp",
    ...inTmp.map((bind) => `stage ${quoted(bind.path)} /dev/${STAGE}/${staged.indexOf(bind)}`),
    ...confinement.masks.map((mask) => `mount -n -t tmpfs -o mode=1777 tmpfs ${quoted(mask)}`),
    ...confinement.binds.map((bind) => placement(bind, staged.indexOf(bind))),
    `rm -r /dev/${STAGE}`,
    protection(confinement),
    ...lastSteps(confinement, identity),
  ].join("\n");
}

/** `stage` keeps a bind for later, `place` puts it where it belongs; both work for folders and for files. */
const FUNCTIONS = `
stage() { if [ -d "$1" ]; then mkdir "$2"; else : > "$2"; fi; mount -n --rbind "$1" "$2"; }
place() {
  if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "$(dirname "$2")"; [ -e "$2" ] || : > "$2"; fi
  mount -n --move "$1" "$2"
}`;

/** A /dev without disks: root would own them, and write to them past every read-only mount. */
const NEW_DEV = `
mount -n -t tmpfs -o mode=755 tmpfs /tmp
mkdir /tmp/dev
mount -n -t tmpfs -o mode=755 tmpfs /tmp/dev
mkdir /tmp/dev/shm /tmp/dev/pts /tmp/dev/${STAGE}
chmod 1777 /tmp/dev/shm
for name in null zero full random urandom tty; do
  : > "/tmp/dev/$name"
  mount -n --bind "/dev/$name" "/tmp/dev/$name"
done
ln -s /proc/self/fd /tmp/dev/fd
ln -s fd/0 /tmp/dev/stdin
ln -s fd/1 /tmp/dev/stdout
ln -s fd/2 /tmp/dev/stderr
if mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /tmp/dev/pts 2>/dev/null; then
  ln -s pts/ptmx /tmp/dev/ptmx
fi`;

function placement(bind: Bind, stagedAt: number): string {
  const path = quoted(bind.path);
  return stagedAt === -1 ? `mount -n --rbind ${path} ${path}` : `place /dev/${STAGE}/${stagedAt} ${path}`;
}

/**
 * Makes every mount read-only that is not meant to be written, with the options it has: the kernel refuses to drop
 * them. A mount that cannot be made so is only harmless if nobody gets there.
 */
function protection(confinement: Confinement): string {
  const exceptions = confinement.binds.toReversed().map(({ path, writable }) => {
    return `${quoted(path)}|${quoted(path)}/*) ${writable ? "continue" : ""} ;;`;
  });
  const masks = confinement.masks.map((mask) => `${quoted(mask)}) continue ;;`);
  const rest = confinement.rootWritable ? "*) continue ;;" : "";
  return `
while read -r _ _ _ _ point options _; do
  path=$(printf '%b' "$point")
  case $path in
    ${[...exceptions, ...masks, rest].join("\n    ")}
    /dev|/dev/*|/proc|/proc/*) continue ;;
  esac
  mount -n -i -o "remount,bind,$options,ro" "$path" 2>/dev/null || [ ! -e "$path" ] || {
    echo "flint: cannot make $path read-only" >&2
    exit 125
  }
done < /proc/self/mountinfo`;
}

/** A fresh /proc, no further user namespaces, no capabilities; each of these needs the ones before. */
function lastSteps(confinement: Confinement, { user, group }: Identity): string[] {
  const loopback = confinement.network ? [] : ["ip link set lo up 2>/dev/null || true"];
  const proc = "mount -n -t proc -o nosuid,nodev,noexec proc /proc";
  const change = `cd ${quoted(confinement.cwd)}`;
  const first = `/bin/sh -c ${quoted(FIRST_PROCESS)} sh "$@"`;
  if (user === 0) {
    const drop = "setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all --";
    const limit = "echo 0 > /proc/sys/user/max_user_namespaces";
    // Root may set kernel parameters by owning their files, without any capability.
    const lock = "mount -n -o remount,ro,nosuid,nodev,noexec /proc";
    return [...loopback, proc, limit, lock, change, `exec setsid ${drop} ${first}`];
  }
  // One more user namespace gives the command its own user id back, and takes the capabilities with it.
  const nested = `unshare --user --map-user=${user} --map-group=${group} -- setpriv --no-new-privs --`;
  const limit = "echo 1 > /proc/sys/user/max_user_namespaces";
  return [...loopback, proc, limit, change, `exec setsid ${nested} ${first}`];
}

/** A text as one word of a shell script. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
