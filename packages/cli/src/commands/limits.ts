import type { UsageLimit } from "@flint/protocol";
import { LIMIT_COLUMNS, limitCells } from "@flint/view";
import { noArguments } from "../command-line/command.ts";
import { columns, print, printJson } from "../command-line/output.ts";
import { withStoredData } from "./local-server.ts";

interface LimitsArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

const NOTHING_KNOWN =
  "No usage limits have been reported yet.\nAgents report them while they work, if their account has any.\n";

/** `flint limits`: shows the usage limits of the agents' accounts, as last reported. */
export async function limits({ values, positionals }: LimitsArguments): Promise<number> {
  noArguments("limits", positionals);
  const { data } = await withStoredData((client) => client.call("account/limits/read", {}));
  if (values.json === true) return printJson(data);
  return print(data.length === 0 ? NOTHING_KNOWN : limitTable(data, Date.now()));
}

/** Limits as a table. */
export function limitTable(data: readonly UsageLimit[], now: number): string {
  return columns([[...LIMIT_COLUMNS], ...data.map((limit) => limitCells(limit, now))]);
}
