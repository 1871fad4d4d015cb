import { patchFor } from "./patch.ts";
import type { FlintTool } from "./tool-roles.ts";

type Input = Readonly<Record<string, unknown>>;

/** Codex has models that call its tools only from a program they write; this is what the program may use. */
const NESTED: Partial<Readonly<Record<FlintTool, string>>> = {
  shell: "exec_command",
  write_file: "apply_patch",
  edit_file: "apply_patch",
};

/** Whether a tool of this name and description runs programs that can do what the Flint tool does. */
export function runsProgramsFor(tool: FlintTool, name: string, description: string): boolean {
  const nested = NESTED[tool];
  return (
    name === "exec" &&
    nested !== undefined &&
    new RegExp(`\\b${nested}\\((?:args|input)\\b`).test(description)
  );
}

/** A program that makes one call and shows what came of it, with the exit code of a command; `extra` goes with a command. */
export function programFor(tool: FlintTool, input: Input, extra: Input = {}): string {
  if (tool !== "shell") return `await tools.apply_patch(${JSON.stringify(patchFor(tool, input))});\n`;
  const given = { cmd: input.command, yield_time_ms: 30_000, ...extra };
  const call = `await tools.exec_command(${JSON.stringify(given)})`;
  return `const done = ${call};\ntext(\`Exit code: \${done.exit_code}\\nOutput:\\n\${done.output}\`);\n`;
}
