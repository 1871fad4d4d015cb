import type { Result } from "@flint/protocol";
import { count, escapeControls } from "@flint/view";
import { UsageError } from "../../command-line/command.ts";
import { print, printJson } from "../../command-line/output.ts";
import { type DecideArguments, decide } from "./decide.ts";
import { withTaskServer } from "./task-server.ts";

type Given = DecideArguments<{ readonly all?: boolean | undefined }>;
type Method = "task/suspendAll" | "task/resumeAll";

/** `flint tasks suspend`: one task, or all that have not ended. */
export function suspendTask(given: Given): Promise<number> {
  return given.values.all === true
    ? changeAll(given, "task/suspendAll")
    : decide(given, "task/suspend", async () => ({}));
}

/** `flint tasks resume`: one task, or all that are suspended. */
export function resumeTask(given: Given): Promise<number> {
  return given.values.all === true
    ? changeAll(given, "task/resumeAll")
    : decide(given, "task/resume", async () => ({}));
}

async function changeAll({ values, positionals }: Given, method: Method): Promise<number> {
  if (positionals.length > 0) throw new UsageError("Use the number of a task or --all, not both.");
  const result = await withTaskServer((client) => client.call(method, {}));
  return values.json === true ? printJson(result) : print(reportOfAll(method, result));
}

/** The number of tasks that were changed, those that were not and why, and the command that continues them. */
export function reportOfAll(method: Method, { data, skipped }: Result<Method>): string {
  const [done, none] =
    method === "task/suspendAll" ? ["Suspended", "nothing to suspend"] : ["Resumed", "nothing to resume"];
  if (data.length + skipped.length === 0) return `There is ${none}.\n`;
  const numbers = data.map(({ number }) => `#${number}`).join(", ");
  const changed = `${done} ${count(data.length, "task")}${numbers === "" ? "" : `: ${numbers}`}.\n`;
  const others = skipped.map(({ reason }) => `  ${escapeControls(reason)}\n`).join("");
  const rest = skipped.length === 0 ? "" : `\nNot ${done.toLowerCase()}:\n${others}`;
  const next =
    method === "task/suspendAll" && data.length > 0 ? "\nflint tasks resume --all continues them.\n" : "";
  return `${changed}${rest}${next}`;
}
