import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { type LockAttempt, lockFolder } from "@flint/host/lock";
import { runFolder } from "../config/environment.ts";

const OTHERS = 0o077;
const SERVER_LOCK = "server.lock";

/**
 * Makes this process the one server of a state folder, or reports which process is. The kernel decides, before anything
 * is served: the process with the lock can be found in the folder shortly after, every other one is its client.
 */
export function claimServer(folder: string): Promise<LockAttempt> {
  preparePrivate(folder);
  return lockFolder(folder, SERVER_LOCK);
}

/** Creates a state folder and the folder of its socket, or makes existing ones private. */
export function preparePrivate(folder: string): void {
  for (const path of [folder, runFolder(folder)]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if ((lstatSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o700);
  }
}
