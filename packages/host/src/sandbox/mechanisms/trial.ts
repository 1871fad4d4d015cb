import { mkdir, mkdtemp, readdir, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { MAX_ATTEMPTS } from "../sockets/bound-sockets.ts";
import { type Confinement, confine, isInside } from "./confinement.ts";
import { type Mechanism, SYSTEM_PATH } from "./mechanism.ts";

/** Runs a wrapped program and returns its output. */
export type TrialRun = (argv: readonly string[]) => Promise<string>;

/**
 * Attempts what must work and what must not, as a command would that tries to escape. The system's tools come first,
 * because the user's PATH may lead to folders that are covered inside. All output goes to one stream, because lines of
 * two could be read interleaved.
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
 * Verifies that a mechanism confines on this machine: writing inside works, but writing outside or to a protected name,
 * mounting, and keeping the network, processes or capabilities do not. Returns why it does not confine, if so.
 */
export async function tryMechanism(
  mechanism: Mechanism,
  run: TrialRun,
  folders: readonly string[],
): Promise<string | undefined> {
  const folder = await trialFolder(mechanism, folders);
  if (folder === undefined) return `no folder to test it in (tried ${folders.join(", ")})`;
  const inside = join(folder, "inside");
  const outside = join(folder, "outside");
  // The folder is removed however the trial ends.
  try {
    const guarded = join(inside, ".git");
    await Promise.all([mkdir(guarded, { recursive: true }), mkdir(outside)]);
    const guard = async () => ({ names: [guarded], locked: [], pins: [] });
    const attempt = async (count: number): Promise<string> => {
      const confinement = await confine({ type: "workspaceWrite" }, inside, inside, guard);
      const argv = mechanism.wrap(["/bin/sh", "-c", SCRIPT, "sh", inside, outside], confinement);
      const output = await run(argv);
      const isLast = count >= MAX_ATTEMPTS || confinement.sockets.length === 0;
      // A socket that vanished before it was covered proves nothing about the mechanism.
      return isLast || (await readdir(inside)).includes("inside") ? output : attempt(count + 1);
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
  if (!inside.includes("inside")) return `a command did not run in it: ${printed.trim() || "no output"}`;
  if (outside.length > 0) return "a command in it could write outside";
  if (steering.length > 0) return "a command in it could change a protected name";
  if (!/^capabilities [0-9a-f]+\nnetwork .+\nprocess .+$/m.test(printed))
    return `it could not be tested: ${printed.trim().replace(/\s*\n\s*/g, ", ")}`;
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

const NOTHING = { names: [], locked: [], pins: [] };

/** A new folder outside of those that the mechanism masks. */
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
