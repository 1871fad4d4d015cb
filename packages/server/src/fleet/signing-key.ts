import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mintId } from "@flint/protocol";
import type { TaskSigner } from "@flint/tasks/fleet";

/** The key with which the server of a state folder signs the tasks that it adds; made when it is needed first. */
export async function signerOf(root: string): Promise<TaskSigner> {
  const { TaskSigner: Signer } = await import("@flint/tasks/fleet");
  const path = join(root, "tasks", "signing-key.pem");
  // Expected: there is none yet.
  const present = await readFile(path, "utf8").catch(() => undefined);
  return Signer.fromPem(present ?? (await madeOnce(path, Signer.generate())));
}

/** Writes a file that is not there; of several that do at once, all get what the first has written. */
async function madeOnce(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const own = `${path}.${mintId()}.new`;
  await writeFile(own, text, { flag: "wx", mode: 0o600 });
  // Expected: another one was first.
  await link(own, path).catch(() => undefined);
  await rm(own, { force: true });
  return readFile(path, "utf8");
}
