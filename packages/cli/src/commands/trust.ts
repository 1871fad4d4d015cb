import { resolve } from "node:path";
import type { WorkspaceFile } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { noArguments, UsageError } from "../command-line/arguments.ts";
import { say } from "../command-line/output.ts";
import { askLine, isInteractive } from "../command-line/terminal.ts";
import { withStoredData } from "./local-server.ts";

interface TrustArguments {
  readonly values: { readonly yes?: boolean | undefined; readonly revoke?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint trust [DIR]`: shows the configuration files of a project in full, and asks whether to trust them. */
export async function trust({ values, positionals }: TrustArguments): Promise<number> {
  const [folder = ".", ...more] = positionals;
  noArguments("trust", more);
  const cwd = resolve(folder);
  return withStoredData(async (client) => {
    if (values.revoke === true) {
      const before = (await client.call("workspace/read", { cwd })).files.filter((file) => file.trusted);
      await client.call("workspace/distrust", { cwd });
      if (before.length === 0) return say(`No trusted files in ${cwd}.\n`);
      return say(`No longer trusted: ${before.map((file) => file.path).join(", ")}.\n`);
    }
    const { files } = await client.call("workspace/read", { cwd });
    if (files.length === 0) return say(`No .flint/config.toml or .mcp.json in ${cwd}.\n`);
    say(files.map(shown).join("\n"));
    const open = files.filter((file) => !file.trusted);
    if (open.length === 0) return say("All of these are already trusted.\n");
    if (values.yes !== true && !(await confirmed())) return say("Not trusted.\n");
    // Exactly what was shown: the server refuses if a file has changed in the meantime.
    await client.call("workspace/trust", { cwd, files: open.map(({ path, sha256 }) => ({ path, sha256 })) });
    return say(`Trusted: ${open.map((file) => file.path).join(", ")}.\n`);
  });
}

function shown({ path, content, trusted, problem }: WorkspaceFile): string {
  const state = trusted ? "trusted" : "not trusted";
  const fault = problem === undefined ? "" : `  ignored: ${problem}\n`;
  const lines = content.trimEnd().split("\n");
  return escapeControls(`${path} (${state})\n${fault}${lines.map((line) => `  | ${line}\n`).join("")}`);
}

async function confirmed(): Promise<boolean> {
  if (!isInteractive())
    throw new UsageError("Not running in a terminal. Review the files above, then run again with --yes.");
  const answer = await askLine(
    "\nThese files set models, permissions and programs for Flint in this folder. Trust them as shown? [y/N] ",
  );
  return answer?.toLowerCase() === "y";
}
