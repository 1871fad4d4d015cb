import { resolve } from "node:path";
import { cannotBeTrusted, type WorkspaceFile } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls, ruleLine } from "@flint/view";
import { noArguments, oneArgument, UsageError } from "../command-line/command.ts";
import { columns, print, printJson } from "../command-line/output.ts";
import { askLine, isInteractive } from "../command-line/terminal.ts";
import { withStoredData } from "./local-server.ts";

interface TrustArguments {
  readonly values: {
    readonly yes?: boolean | undefined;
    readonly revoke?: boolean | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

/** `flint trust [DIR]`: shows what in a project configures Flint or steers an agent, and asks whether to trust it. */
export async function trust({ values, positionals }: TrustArguments): Promise<number> {
  const [folder = ".", ...more] = positionals;
  noArguments("trust", more);
  const cwd = resolve(folder);
  const { yes = false, revoke = false, json = false } = values;
  return withStoredData(async (client) => {
    if (revoke) return revokeTrust(client, cwd, json);
    const { files } = await client.call("workspace/read", { cwd });
    const open = files.filter((file) => !file.trusted && !cannotBeTrusted(file));
    if (json && !yes) return printJson(files);
    if (!json) {
      if (files.length === 0) return print(`No files in ${cwd} configure Flint or an agent.\n`);
      print(files.map(shown).join("\n"));
      if (open.length === 0)
        return print(files.every((file) => file.trusted) ? "Already trusted.\n" : NOTHING_LEFT);
      if (!yes && !(await confirmed())) return print("Not trusted.\n");
    }
    // Exactly what was shown: the server refuses if a file has changed in the meantime.
    const accepted = open.map(({ path, sha256 }) => ({ path, sha256 }));
    if (accepted.length > 0) await client.call("workspace/trust", { cwd, files: accepted });
    if (json) return printJson((await client.call("workspace/read", { cwd })).files);
    return print(`Trusted: ${escapeControls(open.map((file) => file.path).join(", "))}.\n`);
  });
}

const NOTHING_LEFT = "The other files cannot be trusted and are ignored.\n";

async function revokeTrust(client: FlintClient, cwd: string, json: boolean): Promise<number> {
  const before = (await client.call("workspace/read", { cwd })).files.filter((file) => file.trusted);
  await client.call("workspace/distrust", { cwd });
  if (json) return printJson((await client.call("workspace/read", { cwd })).files);
  if (before.length === 0) return print(`No trusted files in ${cwd}.\n`);
  return print(`No longer trusted: ${escapeControls(before.map((file) => file.path).join(", "))}.\n`);
}

function shown({ path, content, trusted, problem, steers = ["Flint"] }: WorkspaceFile): string {
  const state = trusted ? "trusted" : "not trusted";
  const fault = problem === undefined ? "" : `  ignored: ${problem}\n`;
  const lines = content.trimEnd().split("\n");
  const title = `${path} (${state}; ${steers.join(", ")})\n`;
  return escapeControls(`${title}${fault}${lines.map((line) => `  | ${line}\n`).join("")}`);
}

async function confirmed(): Promise<boolean> {
  if (!isInteractive())
    throw new UsageError("Not running in a terminal. Review the files above, then run again with --yes.");
  const answer = await askLine(
    "\nThese files set models, permissions and programs for Flint and the agents in this folder. Trust them as shown? [y/N] ",
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
  const { data, problems = [] } = await withStoredData((client) =>
    client.call("rules/list", values.here === true ? { cwd: process.cwd() } : {}),
  );
  for (const problem of problems) process.stderr.write(`flint: ${escapeControls(problem)}\n`);
  if (values.json === true) return printJson(data);
  if (data.length === 0) return print('No rules. Answer an approval with "always" to add one.\n');
  const rows = data.map((rule) => [
    ...[rule.id, rule.agent ?? "all", rule.scope, rule.project],
    ruleLine(rule),
  ]);
  return print(columns([["ID", "AGENT", "SCOPE", "FOLDER", "ALLOWED TO"], ...rows]));
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
    return print(`Removed: ${ruleLine(found)}\n`);
  });
}
