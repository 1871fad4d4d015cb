import { escapeControls } from "@flint/view";
import { oneArgument } from "../../command-line/command.ts";
import { print, printError, printJson } from "../../command-line/output.ts";
import { withStoredData } from "../local-server.ts";
import { findThread } from "./thread-reference.ts";

interface BackgroundArguments {
  readonly values: { readonly stop?: string | undefined; readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint threads background ID`: lists the commands that an agent left running, or stops them. */
export async function backgroundCommands({ values, positionals }: BackgroundArguments): Promise<number> {
  const reference = oneArgument("threads background", positionals, "a thread: an id, or last");
  const { stop, json = false } = values;
  return withStoredData(async (client) => {
    const { id: threadId } = await findThread(client, reference, process.cwd());
    if (stop !== undefined) {
      const chosen = stop === "all" ? {} : { processId: stop };
      const { stopped } = await client.call("thread/backgroundCommands/stop", { threadId, ...chosen });
      if (json) printJson(stopped);
      else if (stopped.length > 0) print(`Stopped ${stopped.map(escapeControls).join(", ")}\n`);
      if (stopped.length > 0 || stop === "all") return 0;
      return printError(`No background command ${JSON.stringify(stop)} is running in ${threadId}.`, 1);
    }
    const { data } = await client.call("thread/backgroundCommands/list", { threadId });
    if (json) return printJson(data);
    const rows = data.map(({ processId, command }) => escapeControls(`${processId}  ${command}`));
    return print(rows.length === 0 ? "No background commands are running.\n" : `${rows.join("\n")}\n`);
  });
}
