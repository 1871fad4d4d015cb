import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import { mountinfoPath, SYSTEM_PATH } from "../mechanisms/mechanism.ts";
import { pipesOf } from "../processes/process-tree.ts";
import { PROTECTED_NAMES } from "./protected-names.ts";

/**
 * Waits for the end of the server, which closes descriptor 3, then for the end of the commands that have mounts over the
 * placeholders of a folder, and removes them unless commands of another server need them.
 */
const SCRIPT = `trap "" HUP INT TERM
while read -r root && read -r mounted && read -r held; do set -- "$@" "$root" "$mounted" "$held"; done <&3
is_used() { grep -qsF -e "$2" /proc/net/unix || grep -qsF -e " $1 " /proc/[0-9]*/mountinfo; }
while [ $# -gt 0 ]; do
  round=0
  while is_used "$2" "$3" && [ $round -lt 50 ]; do sleep 0.1; round=$((round + 1)); done
  if [ $round -lt 50 ]; then
    for name in ${PROTECTED_NAMES.join(" ")}; do [ -k "$1/$name" ] && rmdir "$1/$name"; done
  fi
  shift 3
done`;

/** A folder to clean up. */
export interface WatchedFolder {
  readonly root: string;
  /** The prefix of the presence sockets of commands in the folder. */
  readonly prefix: string;
}

/** Removes placeholders when the server has died. A process of its own, not a child of the server. */
export class Janitor {
  readonly #known = new Set<string>();
  #input: Writable | undefined;

  /** Registers a folder that has placeholders now or later. */
  watch({ root, prefix }: WatchedFolder): void {
    // Paths are sent as lines; in a folder with such a path the next command cleans up instead.
    if (this.#known.has(root) || root.includes("\n") || root !== root.trim()) return;
    this.#known.add(root);
    this.#input ??= start();
    this.#input?.write(`${root}\n${mountinfoPath(`${root}/.git`)}\n${prefix}\n`);
  }
}

function start(): Writable | undefined {
  const child = spawn("/bin/sh", ["-c", '(/bin/sh -c "$1" &)', "sh", SCRIPT], {
    cwd: "/",
    env: { PATH: SYSTEM_PATH },
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  // Expected: out of processes or descriptors. The next command in the folder cleans up instead.
  child.once("error", () => undefined);
  child.unref();
  const input = pipesOf(child)[3];
  if (!(input instanceof Writable)) return undefined;
  input.on("error", () => undefined);
  if ("unref" in input && typeof input.unref === "function") input.unref();
  return input;
}
