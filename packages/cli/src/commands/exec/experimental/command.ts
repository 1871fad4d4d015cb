import { type Command, command } from "../../command.ts";
import { CODEX_EXEC_FLAGS } from "./flags.ts";

/** `codex exec --experimental-json`, for programs that start it. */
export const codexExecCommand = command({
  summary: "one turn with the lines of `codex exec --experimental-json`",
  usage: "--experimental-json [resume THREAD]",
  flags: CODEX_EXEC_FLAGS,
  examples: ['echo "what is in this folder?" | flint exec --experimental-json'],
  notes: [
    "The prompt is read from standard input. Nobody is asked anything: what the sandbox does not let happen does not happen.",
  ],
  run: async (given) => (await import("./exec.ts")).codexExec(given),
});

/** `flint exec`, which is that of Codex when it is told to print Codex's lines. */
export function orCodexExec(exec: Command): Command {
  return { ...exec, run: (args) => (printsCodexLines(args) ? codexExecCommand : exec).run(args) };
}

/** Whether an `exec` asks for the lines of Codex. */
export function printsCodexLines(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes("--experimental-json");
}
