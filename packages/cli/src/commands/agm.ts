import { stateFolder } from "@flint/server/environment";
import { noArguments } from "../command-line/command.ts";
import { printError } from "../command-line/output.ts";
import { serverOptions } from "../command-line/server-options.ts";
import { withTaskServer } from "./tasks/task-server.ts";

/** `flint agm`: answers agm requests about sessions and tasks until stdin ends. */
export async function agm({ positionals }: { readonly positionals: readonly string[] }): Promise<number> {
  noArguments("agm", positionals);
  const { fleet, cwd } = await serverOptions({});
  const { serveAgm } = await import("@flint/server/agm");
  await withTaskServer((client) =>
    serveAgm({
      ...{ client, cwd, fleet, root: stateFolder(), input: process.stdin },
      // Also called when the reader has gone; the next read then ends the program.
      write: (line) => new Promise((resolve) => void process.stdout.write(line, () => resolve())),
      onProblem: (problem) => void printError(problem, 0),
    }),
  );
  return 0;
}
