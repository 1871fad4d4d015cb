import { MergeMode, type Params, type Result, type TaskMethod, type TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { isMergeable, roundChoice, statusOf } from "@flint/view/tasks";
import { choice, oneArgument, UsageError } from "../../command-line/command.ts";
import type { ExitCode } from "../../command-line/exit-codes.ts";
import { print, printError, printJson } from "../../command-line/output.ts";
import { isInteractive } from "../../command-line/terminal.ts";
import { findTask, withTaskServer } from "./task-server.ts";

/** Arguments of the commands that decide about a task. */
export interface DecideArguments<Flags = object> {
  readonly values: { readonly json?: boolean | undefined } & Flags;
  readonly positionals: readonly string[];
}

type Changing = Extract<
  TaskMethod,
  | "task/answer"
  | "task/approve"
  | "task/merge"
  | "task/reject"
  | "task/suspend"
  | "task/resume"
  | "task/cancel"
  | "task/retry"
>;

/** The exit code if the user decides later: the task still needs an answer. */
const UNDECIDED = 10 satisfies ExitCode;

/** Sends a decision about a task and prints where it stands then. Without params, nothing is decided. */
export async function decide<Name extends Changing>(
  { values, positionals }: DecideArguments,
  method: Name,
  params: (task: TaskRow, client: FlintClient) => Promise<Omit<Params<Name>, "taskId"> | undefined>,
): Promise<number> {
  const [text = ""] = positionals;
  if (text === "") throw new UsageError(`${method.replace("task/", "tasks ")} needs the number of a task.`);
  const decided = await withTaskServer(async (client) => {
    const found = await findTask(client, text);
    const decision = await params(found, client);
    if (decision === undefined) return undefined;
    // Each of these methods takes the task's id and what was decided, and answers with the task.
    const all = { ...decision, taskId: found.id } as Params<Name>;
    return (await client.call(method, all as never)) as Result<"task/approve">;
  });
  if (decided === undefined) return UNDECIDED;
  const { task } = decided;
  if (values.json === true) return printJson(task);
  const { number, phase } = task;
  // An approved task is ready again: its result has yet to be merged.
  const isToMerge = method === "task/approve" || method === "task/merge";
  const outcome =
    isToMerge && phase === "ready"
      ? `approved\n\nflint tasks watch ${number} shows where the result is.`
      : statusOf(task, Date.now());
  return print(`#${number} ${escapeControls(task.title)}: ${outcome}\n`);
}

/** `flint tasks approve`: approves exactly what was shown. */
export function approveTask(given: DecideArguments<JudgeFlags>): Promise<number> {
  return decide(given, "task/approve", async (task, client) => {
    const { diff, tree } = await client.call("task/diff", { taskId: task.id });
    // A task that cannot be approved is rejected with its status, whatever the answer.
    const isAsked = given.values.yes !== true && task.phase === "approving";
    if (isAsked && !(await confirmDiff(diff, "Approve this result?"))) {
      printError(`Not approved. flint tasks reject ${task.number} "COMMENTS" sends it back.`, UNDECIDED);
      return undefined;
    }
    return { tree };
  });
}

interface JudgeFlags {
  readonly yes?: boolean | undefined;
}

/** `flint tasks merge`: merges exactly what was shown. */
export function mergeTask(
  given: DecideArguments<JudgeFlags & { readonly merge?: string | undefined }>,
): Promise<number> {
  const { yes, merge: text } = given.values;
  const merge = text === undefined ? {} : { merge: choice("merge", text, MergeMode.options) };
  return decide(given, "task/merge", async (task, client) => {
    const { diff, tree } = await client.call("task/diff", { taskId: task.id });
    // As above: what cannot be merged is rejected with the reason.
    const isAsked = yes !== true && (isMergeable(task) || task.phase === "asking");
    if (isAsked && !(await confirmDiff(diff, "Merge this result?"))) {
      printError("Not merged.", UNDECIDED);
      return undefined;
    }
    return { tree, ...merge };
  });
}

/** Reports whether the user agrees to a diff, which is printed. */
async function confirmDiff(diff: string, question: string): Promise<boolean> {
  if (!isInteractive())
    throw new UsageError(
      "Not running in a terminal. Review the result with flint tasks diff, then run again with --yes.",
    );
  print(`${escapeControls(diff)}\n`);
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await lines.question(`${question} [y/N] `).finally(() => lines.close());
  return /^y(es)?$/i.test(reply.trim());
}

/** `flint tasks reject`: sends the result back with comments. */
export function rejectTask(given: DecideArguments): Promise<number> {
  const comments = given.positionals.slice(1).join(" ");
  if (comments === "") throw new UsageError("tasks reject needs comments for the executor.");
  return decide(given, "task/reject", async () => ({ comments }));
}

interface AnswerFlags {
  readonly accept?: boolean | undefined;
  readonly fail?: boolean | undefined;
  readonly decline?: boolean | undefined;
}

/** `flint tasks answer`: answers what a task asks. */
export function answerTask(given: DecideArguments<AnswerFlags>): Promise<number> {
  const { accept, fail, decline } = given.values;
  if ([accept, fail, decline].filter((flag) => flag === true).length > 1)
    throw new UsageError("Use only one of --accept, --fail and --decline.");
  return decide(given, "task/answer", async (task) => {
    if (task.ask === undefined)
      throw new UsageError(
        `Task ${task.number} has no open question. Its status: ${statusOf(task, Date.now())}.`,
      );
    const message = given.positionals.slice(1).join(" ");
    const response = { outcome: decline === true ? "deny" : "allow" };
    const answer = {
      choice:
        accept === true ? ("accept" as const) : fail === true ? ("fail" as const) : ("continue" as const),
      ...(message === "" ? {} : { message }),
      ...(task.ask.reason === "approval" ? { response } : {}),
    };
    return { askId: task.ask.id, answer };
  });
}

/** `flint tasks cancel`. */
export function cancelTask(given: DecideArguments): Promise<number> {
  return decide(given, "task/cancel", async () => ({}));
}

/** `flint tasks retry`. */
export function retryTask(given: DecideArguments<{ readonly from?: string | undefined }>): Promise<number> {
  const { from } = given.values;
  const chosen = from === undefined ? {} : roundChoice(from);
  if (chosen === undefined)
    throw new UsageError(`--from ${from}: write a round as r2, an attempt as a1, or both as a1.r2.`);
  return decide(given, "task/retry", async () => chosen);
}

/** `flint tasks steer`: sends the executor a message. */
export async function steerTask({ values, positionals }: DecideArguments): Promise<number> {
  const [text = "", ...words] = positionals;
  if (words.length === 0) throw new UsageError("tasks steer needs the number of a task and a message.");
  const result = await withTaskServer(async (client) =>
    client.call("task/steer", { taskId: (await findTask(client, text)).id, content: words.join(" ") }),
  );
  if (values.json === true) return printJson(result);
  return print(result.live ? "Sent to the running turn.\n" : "The executor gets it with its next turn.\n");
}

/** `flint tasks remove`. */
export async function removeTask({ positionals }: DecideArguments): Promise<number> {
  const text = oneArgument("tasks remove", positionals, "the number of a task");
  await withTaskServer(async (client) =>
    client.call("task/remove", { taskId: (await findTask(client, text)).id }),
  );
  return printError(`Removed task ${text}. Its commits stay under refs/flint/tasks.`, 0);
}
