import { type Disk, NODE_DISK } from "../disk/disk.ts";

/** What goes wrong with a disk. It may be changed while it is in use. */
export interface DiskPlan {
  /** The error code with which a call fails, or "crash": from then on nothing happens any more. */
  fails?: ((call: string, path: string, count: number) => string | undefined) | undefined;
  /** Names of the calls that were made, in order. */
  readonly calls: string[];
}

/** The calls after which a disk is not what it was before. */
export const CHANGING_CALLS: ReadonlySet<string> = new Set([
  ...["write", "setMode", "makeLink", "makeFolder", "rename", "unlink", "removeFolder"],
]);

/** A process that was killed does nothing more; a test that meets this knows that it would not have gone on. */
export class Crash extends Error {}

/** The disk of the machine, with faults. */
export function faultyDisk(plan: DiskPlan): Disk {
  let hasCrashed = false;
  return new Proxy(NODE_DISK, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== "function" || typeof name !== "string") return call;
      return (...given: unknown[]) => {
        plan.calls.push(name);
        const code = hasCrashed ? "crash" : plan.fails?.(name, String(given[0]), plan.calls.length);
        if (code === "crash") {
          hasCrashed = true;
          throw new Crash("the process was killed");
        }
        // These tests end processes, not the power supply.
        if (name === "sync" && code === undefined) return Promise.resolve();
        if (code !== undefined) throw Object.assign(new Error(`${code}: injected, ${name}`), { code });
        return Reflect.apply(call, target, given);
      };
    },
  });
}
