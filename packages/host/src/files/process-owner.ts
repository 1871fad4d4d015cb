import { readlink } from "node:fs/promises";

/** The name of this process for what it leaves on disk. Process ids mean something only in one namespace. */
export async function processOwner(): Promise<string> {
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${namespace.replace(/\D/g, "")}-${process.pid}`;
}

/** Reports whether the process with this name may still run, which is not known of processes in another namespace. */
export async function mayStillRun(owner: string): Promise<boolean> {
  const own = await processOwner();
  const [namespace = "", pid = ""] = owner.split("-");
  if (owner === own || !own.startsWith(`${namespace}-`)) return true;
  // Expected: there is no such process, or it is another user's.
  try {
    return process.kill(Number(pid), 0);
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
