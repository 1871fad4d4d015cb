import { agentProgram, type RealAgent } from "@flint/testkit";

/** A call in the script of a model. */
type ScriptedCall = Readonly<Record<string, unknown>>;

/** An agent behind Flint whose model plays a script, and how that model calls for commands. */
export interface ScriptedAgent {
  readonly agent: string;
  /** The program that has to be there; Flint's own agent needs none. */
  readonly program?: Extract<RealAgent, "claude" | "codex">;
  /** The model name in the stock Codex TUI. */
  readonly model: string;
  /** A command in the sandbox. */
  run(command: string): readonly ScriptedCall[];
  /** A command that asks to run outside of the sandbox, and why. */
  leave(command: string, why: string): readonly ScriptedCall[];
  /** A new file of the workspace. */
  write(name: string, line: string): readonly ScriptedCall[];
}

/** Time for which Codex waits for a command before it continues without it. */
const CODEX_WAITS_MS = 30_000;

/** Codex calls for its tools in the code that it writes. */
function codexCall(tool: string, input: ScriptedCall | string): readonly ScriptedCall[] {
  return [{ call: "exec", raw: `text(JSON.stringify(await tools.${tool}(${JSON.stringify(input)})))` }];
}

/** Flint's own agent, Claude and Codex. */
export const SCRIPTED_AGENTS: readonly ScriptedAgent[] = [
  {
    ...{ agent: "flint", model: "Flint offline model" },
    run: (command) => [{ call: "shell", input: { command } }],
    leave: (command, why) => [{ call: "shell", input: { command, needs: { unconfined: true }, why } }],
    write: (path, line) => [{ call: "write_file", input: { path, content: `${line}\n` } }],
  },
  {
    ...{ agent: "claude", program: "claude", model: "Claude's default" },
    run: (command) => [{ call: "Bash", input: { command } }],
    leave: (command, why) => [
      { call: "Bash", input: { command, dangerouslyDisableSandbox: true, description: why } },
    ],
    write: (name, line) => [{ call: "Write", input: { file_path: name, content: `${line}\n` } }],
  },
  {
    ...{ agent: "codex", program: "codex", model: "Codex" },
    run: (cmd) => codexCall("exec_command", { cmd, yield_time_ms: CODEX_WAITS_MS }),
    leave: (cmd, why) =>
      codexCall("exec_command", { cmd, sandbox_permissions: "require_escalated", justification: why }),
    write: (name, line) =>
      codexCall("apply_patch", `*** Begin Patch\n*** Add File: ${name}\n+${line}\n*** End Patch`),
  },
];

/** The last step of a turn. */
export const DONE: readonly ScriptedCall[] = [{ text: "All done." }];

/** The options of `flint` and its configuration that choose the agent, with the offline model behind it. */
export function choosing({ agent, program }: ScriptedAgent): {
  readonly options: readonly string[];
  readonly configuration: string;
} {
  if (program === undefined) return { options: ["--offline"], configuration: "" };
  const command = JSON.stringify([agentProgram(program) ?? program]);
  return {
    options: ["--offline", "--agent", agent],
    configuration: `[agents.${agent}]\ncommand = ${command}\n`,
  };
}
