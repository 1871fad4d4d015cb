import { escapeControls } from "@flint/view";
import { noArguments, oneArgument } from "../../command-line/command.ts";
import { columns, print, printError, printJson } from "../../command-line/output.ts";
import { agentRows, installNamed, loginOf, notInstalledHere, removeNamed, stateOf } from "./programs.ts";

interface ListArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

interface Positionals {
  readonly positionals: readonly string[];
}

/** `flint agents list`. */
export async function listAgents({ values, positionals }: ListArguments): Promise<number> {
  noArguments("agents list", positionals);
  const rows = await agentRows();
  if (values.json === true) return printJson(rows);
  const table = rows.map((row) => [row.agent, stateOf(row), loginOf(row), row.path ?? row.install ?? ""]);
  return print(escapeControls(columns([["AGENT", "VERSION", "LOGIN", "PROGRAM"], ...table])));
}

/** `flint agents install NAME`. */
export async function installAgents({ positionals }: Positionals): Promise<number> {
  const name = oneArgument("agents install", positionals, "the name of an agent");
  return print(`${await installNamed(name, (doing) => void process.stderr.write(`${doing}\n`))}\n`);
}

/** `flint agents remove NAME`. The exit code is 1 if Flint did not install it. */
export async function removeAgents({ positionals }: Positionals): Promise<number> {
  const { name, isRemoved } = await removeNamed(
    oneArgument("agents remove", positionals, "the name of an agent"),
  );
  if (isRemoved) return print(`Removed ${name}.\n`);
  return printError(notInstalledHere(name), 1);
}
