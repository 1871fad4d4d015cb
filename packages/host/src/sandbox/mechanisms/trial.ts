import { mkdir, mkdtemp, readdir, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { MOST_LOOKS } from "../sockets/bound-sockets.ts";
import { type Confinement, confine, isInside } from "./confinement.ts";
import { type Mechanism, SYSTEM_PATH } from "./mechanism.ts";

/** Runs a program that is already wrapped, and gives back what it printed. */
export type TrialRun = (argv: readonly string[]) => Promise<string>;

/**
 * Tries to do what must work and what must not, the way a command would that wants out. With the tools of the system
 * first: the user's search path may lead to folders that are covered in there. All it says goes one way: of two, a busy
 * machine may read a line of one between two lines of the other.
 */
const SCRIPT = `
exec 2>&1
PATH=${SYSTEM_PATH}:$PATH
echo inside > "$1/inside"
echo steering > "$1/.git/written"
rmdir "$1/.git" || mv "$1/.git" "$1/moved"
echo outside > "$2/written"
mount -o remount,bind,rw / && echo outside > "$2/remounted"
mount -o remount,bind,rw "$2" && echo outside > "$2/remounted"
unshare --user --map-root-user sh -c 'mount -o remount,bind,rw / && echo outside > "$1/nested"' sh "$2"
echo "capabilities $(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)"
echo "network $(readlink /proc/self/ns/net)"
echo "process $(readlink /proc/self/ns/pid)"
`;

/**
 * Proves by effect that a mechanism holds on this machine: writing inside works, and writing outside or under a
 * protected name, mounting, and keeping network, processes or capabilities do not. The answer says why it does not hold, if so.
 */
export async function tryMechanism(
  mechanism: Mechanism,
  run: TrialRun,
  folders: readonly string[],
): Promise<string | undefined> {
  const folder = await trialFolder(mechanism, folders);
  if (folder === undefined) return `no folder to try it in (looked at ${folders.join(", ")})`;
  const inside = join(folder, "inside");
  const outside = join(folder, "outside");
  // Whatever fails in a trial, it leaves no folder behind.
  try {
    const guarded = join(inside, ".git");
    await Promise.all([mkdir(guarded, { recursive: true }), mkdir(outside)]);
    const guard = async () => ({ names: [guarded], firm: [], pins: [] });
    const attempt = async (look: number): Promise<string> => {
      const confinement = await confine({ type: "workspaceWrite" }, inside, inside, guard);
      const argv = mechanism.wrap(["/bin/sh", "-c", SCRIPT, "sh", inside, outside], confinement);
      const said = await run(argv);
      const isOver = look >= MOST_LOOKS || confinement.sockets.length === 0;
      // A socket that is gone before it is covered says nothing about the mechanism.
      return isOver || (await readdir(inside)).includes("inside") ? said : attempt(look + 1);
    };
    const printed = await attempt(1);
    return await judge({
      inside: await readdir(inside),
      outside: await readdir(outside),
      steering: await readdir(guarded).catch(() => ["gone"]),
      printed,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Effects {
  readonly inside: readonly string[];
  readonly outside: readonly string[];
  readonly steering: readonly string[];
  readonly printed: string;
}

async function judge({ inside, outside, steering, printed }: Effects): Promise<string | undefined> {
  if (!inside.includes("inside"))
    return `a command did not run in it: ${printed.trim() || "it said nothing"}`;
  if (outside.length > 0) return "a command in it could write outside";
  if (steering.length > 0) return "a command in it could change what is protected inside";
  if (!/^capabilities [0-9a-f]+\nnetwork .+\nprocess .+$/m.test(printed))
    return `it could not be tried: ${printed.trim().replace(/\s*\n\s*/g, ", ")}`;
  if (!/^capabilities 0+$/m.test(printed)) return "a command in it kept capabilities";
  for (const [word, link] of [
    ["network", "net"],
    ["process", "pid"],
  ] as const) {
    const own = await readlink(`/proc/self/ns/${link}`);
    if (!printed.includes(`${word} ${link}:[`) || printed.includes(own))
      return `it shares its ${word} namespace`;
  }
  return undefined;
}

const NOTHING = { names: [], firm: [], pins: [] };

/** A new folder that the mechanism would not cover anyway. */
async function trialFolder(mechanism: Mechanism, folders: readonly string[]): Promise<string | undefined> {
  const { masks }: Confinement = await confine({ type: "readOnly" }, "/", "/", async () => NOTHING);
  for (const candidate of folders) {
    const folder = await realpath(candidate).catch(() => undefined);
    if (folder === undefined || masks.some((mask) => isInside(folder, mask))) continue;
    const made = await mkdtemp(join(folder, `flint-${mechanism.name}-`)).catch(() => undefined);
    if (made !== undefined) return made;
  }
  return undefined;
}
