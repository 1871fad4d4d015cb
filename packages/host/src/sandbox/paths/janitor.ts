import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import { SYSTEM_PATH } from "../mechanisms/mechanism.ts";
import { asInMountinfo } from "../mechanisms/mountinfo.ts";
import { pipesOf } from "../processes/process-tree.ts";
import { PROTECTED_NAMES } from "./protected-names.ts";

/**
 * Waits for the end of the server, which closes descriptor 3, then for the end of the commands that have the
 * placeholders of a folder mounted over, and removes them unless commands of another server need them.
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

/** What has to be known of a folder to tidy it up. */
export interface Tidied {
  readonly root: string;
  /** What the signs of commands in the folder begin with. */
  readonly held: string;
}

/** Removes placeholders when the server can no longer do it. A process of its own, beside the server and not below it. */
export class Janitor {
  readonly #known = new Set<string>();
  #orders: Writable | undefined;

  /** Names a folder that has placeholders now or later. */
  lookAfter({ root, held }: Tidied): void {
    // An order is a line; the next command in such a folder tidies it up instead.
    if (this.#known.has(root) || root.includes("\n") || root !== root.trim()) return;
    this.#known.add(root);
    this.#orders ??= start();
    this.#orders?.write(`${root}\n${asInMountinfo(`${root}/.git`)}\n${held}\n`);
  }
}

function start(): Writable | undefined {
  const child = spawn("/bin/sh", ["-c", '(/bin/sh -c "$1" &)', "sh", SCRIPT], {
    cwd: "/",
    env: { PATH: SYSTEM_PATH },
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  // Expected: no more processes may be started, or no more descriptors be had. The next command in the folder tidies up instead.
  child.once("error", () => undefined);
  child.unref();
  const orders = pipesOf(child)[3];
  if (!(orders instanceof Writable)) return undefined;
  orders.on("error", () => undefined);
  if ("unref" in orders && typeof orders.unref === "function") orders.unref();
  return orders;
}
