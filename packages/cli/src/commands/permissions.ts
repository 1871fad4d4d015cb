import { resolve } from "node:path";
import { describeRule, type WorkspaceFile } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { noArguments, oneArgument, UsageError } from "../command-line/command.ts";
import { columns, say, sayJson } from "../command-line/output.ts";
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
    if (open.length === 0) return say("Already trusted.\n");
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

interface ListArguments {
  readonly values: { readonly here?: boolean | undefined; readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint rules list`. */
export async function listRules({ values, positionals }: ListArguments): Promise<number> {
  noArguments("rules list", positionals);
  const { data } = await withStoredData((client) =>
    client.call("rules/list", values.here === true ? { cwd: process.cwd() } : {}),
  );
  if (values.json === true) return sayJson(data);
  if (data.length === 0) return say('No rules. Answer an approval with "always" to add one.\n');
  const rows = data.map((rule) => [rule.id, rule.agent, rule.project, describeRule(rule)]);
  return say(columns([["ID", "AGENT", "FOLDER", "ALLOWED"], ...rows]));
}

/** `flint rules remove ID`, by an id or its prefix. */
export async function removeRule({
  positionals,
}: {
  readonly positionals: readonly string[];
}): Promise<number> {
  const reference = oneArgument("rules remove", positionals, "the id of a rule; see flint rules list");
  return withStoredData(async (client) => {
    const { data } = await client.call("rules/list", {});
    const [found, ...others] = data.filter((rule) => rule.id.startsWith(reference));
    if (found === undefined)
      throw new UsageError(`No rule ${JSON.stringify(reference)}; see flint rules list.`);
    if (others.length > 0) throw new UsageError(`Several rules start with ${reference}; use a longer id.`);
    await client.call("rules/remove", { id: found.id });
    return say(`Removed: ${describeRule(found)}\n`);
  });
}
