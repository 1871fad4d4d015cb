import { resolve } from "node:path";
import { spawnServer } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { UsageError } from "../../command-line/arguments.ts";
import { askLine } from "../../command-line/terminal.ts";
import { runHarnessClient } from "./harness-client.ts";

interface HarnessClientArguments {
  readonly values: { readonly cwd?: string | undefined };
  readonly positionals: readonly string[];
}

/** `flint harness-client --cwd DIR "PROMPT"`: starts a harness server and runs one turn on it. */
export async function harnessClient({ values, positionals }: HarnessClientArguments): Promise<number> {
  const prompt = positionals.join(" ");
  if (prompt === "")
    throw new UsageError('harness-client needs a prompt: flint harness-client --cwd DIR "PROMPT"');
  const cwd = resolve(values.cwd ?? ".");
  // The server is this same program.
  const flint = process.argv[1] ?? "flint";
  const server = spawnServer({ command: process.execPath, args: [flint, "harness", "--cwd", cwd] });
  try {
    return await runHarnessClient({
      transport: server.transport,
      cwd,
      prompt,
      write: (text) => void process.stdout.write(text),
      decide: async ({ action }, signal) => {
        const shown = action.kind === "command" ? action.command : JSON.stringify(action);
        const line = await askLine(
          `\nAllow it?\n  ${escapeControls(shown)}\n[y] once  [a] always  [n] no: `,
          signal,
        );
        return line === "y" ? "once" : line === "a" ? "always" : "reject";
      },
    });
  } finally {
    await server.stop();
  }
}
