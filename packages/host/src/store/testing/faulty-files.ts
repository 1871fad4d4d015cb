import { type FileSystem, NODE_FILES } from "../file-system.ts";

/** The plan of failing calls. May be changed while the file system is in use. */
export interface FaultPlan {
  /** The error code of a failing call; `count` is the number of calls so far, including this one. */
  fails?: (call: string, count: number) => string | undefined;
  /** The number of bytes that can still be written; more is written in part or fails, as on a full disk. */
  room?: number;
  /** Names of the calls that were made, in order. */
  readonly calls: string[];
}

/** The machine's file system with injected faults. */
export function faultyFiles(plan: FaultPlan): FileSystem {
  return new Proxy(NODE_FILES, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== "function" || typeof name !== "string") return call;
      return (...given: unknown[]) =>
        guarded(plan, name, () => Reflect.apply(call, target, limited(plan, name, given)));
    },
  });
}

function guarded(plan: FaultPlan, name: string, run: () => unknown): unknown {
  plan.calls.push(name);
  const code = plan.fails?.(name, plan.calls.length);
  if (name.endsWith("Sync")) {
    if (code !== undefined) throw failure(code, name);
    return run();
  }
  return code === undefined ? new Promise((resolve) => resolve(run())) : Promise.reject(failure(code, name));
}

/** The arguments of a write, cut to the free space. */
function limited(plan: FaultPlan, name: string, given: unknown[]): unknown[] {
  const [file, bytes] = given;
  if (plan.room === undefined || !/^write(Sync)?$/.test(name) || !(bytes instanceof Uint8Array)) return given;
  if (plan.room === 0) throw failure("ENOSPC", name);
  const taken = bytes.subarray(0, plan.room);
  plan.room -= taken.byteLength;
  return [file, taken];
}

function failure(code: string, name: string): Error {
  return Object.assign(new Error(`${code}: injected, ${name}`), { code });
}
