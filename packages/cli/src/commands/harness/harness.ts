import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { harnessFrontend } from "@flint/frontends/harness";
import { spawnServer } from "@flint/sdk";
import { stateFolder } from "@flint/server/environment";
import { composeEngine, serveStdio } from "@flint/server/serve";
import { escapeControls } from "@flint/view";
import { noArguments, UsageError } from "../../command-line/command.ts";
import { type ServerFlagValues, serverOptions } from "../../command-line/server-options.ts";
import { askLine } from "../../command-line/terminal.ts";
import { runHarnessClient } from "./harness-client.ts";

/** `flint harness --cwd DIR`: serves the harness protocol, with threads in `DIR/.harness`. */
export async function harness(given: {
  readonly values: ServerFlagValues;
  readonly positionals: readonly string[];
}): Promise<number> {
  noArguments("harness", given.positionals);
  const options = await serverOptions(given.values);
  const root = join(options.cwd, ".harness");
  keepOutOfGit(root);
  await serveStdio(composeEngine({ ...options, root, userRoot: stateFolder() }), harnessFrontend());
  return 0;
}

/** Makes the folder ignore itself: threads do not belong in the user's repository. */
function keepOutOfGit(root: string): void {
  try {
    mkdirSync(root, { mode: 0o700 });
    writeFileSync(join(root, ".gitignore"), "*\n", { mode: 0o600, flag: "wx" });
  } catch {
    // It exists already, or cannot be created; then the first write reports why.
  }
}

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
