import { type LockAttempt, NODE_FILES, takeLock } from "@flint/host/store";
import { preparePrivate, SERVER_LOCK } from "./rendezvous.ts";

/**
 * Makes this process the one server of a state folder, or says which one is. Decided by the kernel, before anything is
 * served: whoever has the lock will be found in the folder in a moment, whoever has not is a client of it.
 */
export function claimServer(folder: string): Promise<LockAttempt> {
  preparePrivate(folder);
  return takeLock(NODE_FILES, folder, SERVER_LOCK);
}
