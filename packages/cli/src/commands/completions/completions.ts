import { basename } from "node:path";
import { setting } from "@flint/server/environment";
import { noArguments, UsageError } from "../arguments.ts";
import { say } from "../output.ts";
import { bashCompletions } from "./bash.ts";
import { fishCompletions } from "./fish.ts";
import { type CommandTable, completionTree } from "./tree.ts";
import { zshCompletions } from "./zsh.ts";

const SHELLS = { bash: bashCompletions, zsh: zshCompletions, fish: fishCompletions } as const;

/** `flint completions [SHELL]`: a script for the shell; the user's own shell if none is named. */
export async function completions(
  { positionals }: { readonly positionals: readonly string[] },
  commands: CommandTable,
): Promise<number> {
  const [named, ...more] = positionals;
  noArguments("completions", more);
  const shell = named ?? basename(setting("SHELL") ?? "bash");
  if (shell !== "bash" && shell !== "zsh" && shell !== "fish") {
    throw new UsageError(`There are completions for bash, zsh and fish; not for ${JSON.stringify(shell)}.`);
  }
  return say(SHELLS[shell](completionTree(commands)));
}
