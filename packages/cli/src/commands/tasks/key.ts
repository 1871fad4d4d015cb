import { stateFolder } from "@flint/server/environment";
import { noArguments } from "../../command-line/command.ts";
import { print } from "../../command-line/output.ts";

/** `flint tasks key`: prints the public key with which the tasks of this machine are signed. */
export async function printKey({
  positionals,
}: {
  readonly positionals: readonly string[];
}): Promise<number> {
  noArguments("tasks key", positionals);
  const { signerOf } = await import("@flint/server/fleet");
  return print(`${(await signerOf(stateFolder())).publicKey}\n`);
}
