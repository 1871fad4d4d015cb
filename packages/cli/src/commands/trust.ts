import { resolve } from "node:path";
import type { WorkspaceFile } from "@flint/protocol";
import { visible } from "@flint/view";
import { noArguments, UsageError } from "../command-line/arguments.ts";
import { say } from "../command-line/output.ts";
import { askLine, someoneIsThere } from "../command-line/terminal.ts";
import { withStoredThings } from "./local-server.ts";

interface TrustArguments {
  readonly values: { readonly yes?: boolean | undefined; readonly revoke?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint trust [DIR]`: shows the files with which a folder could steer Flint, whole, and asks. */
export async function trust({ values, positionals }: TrustArguments): Promise<number> {
  const [folder = ".", ...more] = positionals;
  noArguments("trust", more);
  const cwd = resolve(folder);
  return withStoredThings(async (client) => {
    if (values.revoke === true) {
      const before = (await client.call("workspace/read", { cwd })).files.filter((file) => file.trusted);
      await client.call("workspace/distrust", { cwd });
      if (before.length === 0) return say(`Nothing in ${cwd} was trusted.\n`);
      return say(`No longer trusted: ${before.map((file) => file.path).join(", ")}.\n`);
    }
    const { files } = await client.call("workspace/read", { cwd });
    if (files.length === 0) return say(`There is no .flint/config.toml and no .mcp.json in ${cwd}.\n`);
    say(files.map(shown).join("\n"));
    const open = files.filter((file) => !file.trusted);
    if (open.length === 0) return say("All of this is trusted already.\n");
    if (values.yes !== true && !(await confirmed())) return say("Nothing is trusted.\n");
    // Exactly what was shown: if a file changed in the meantime, this is refused.
    await client.call("workspace/trust", { cwd, files: open.map(({ path, sha256 }) => ({ path, sha256 })) });
    return say(`Trusted: ${open.map((file) => file.path).join(", ")}.\n`);
  });
}

function shown({ path, content, trusted, problem }: WorkspaceFile): string {
  const state = trusted ? "trusted" : "not trusted";
  const fault = problem === undefined ? "" : `  has no effect: ${problem}\n`;
  const lines = content.trimEnd().split("\n");
  return visible(`${path} (${state})\n${fault}${lines.map((line) => `  | ${line}\n`).join("")}`);
}

async function confirmed(): Promise<boolean> {
  if (!someoneIsThere())
    throw new UsageError("Nobody is at a terminal to answer; look at it, then add --yes.");
  const answer = await askLine(
    "\nThese files choose models, policies and programs for Flint in this folder. Trust them as shown? [y/N] ",
  );
  return answer?.toLowerCase() === "y";
}
