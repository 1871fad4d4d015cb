import { describeRule } from "@flint/protocol";
import { noArguments, oneArgument, UsageError } from "../command-line/arguments.ts";
import { columns, say, sayJson } from "../command-line/output.ts";
import { withStoredData } from "./local-server.ts";

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
