import { LOCAL_WORKER, type Result, type TaskRow, type TaskSpec, taskEventOf } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls, size } from "@flint/view";
import { nextStep, reviewersText, statusOf, usageText } from "@flint/view/tasks";
import { oneArgument, UsageError } from "../../command-line/command.ts";
import { columns, print, printJson, printRaw } from "../../command-line/output.ts";
import { logLines } from "./logs.ts";
import { findTask, withTaskServer } from "./task-server.ts";

interface ShowArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint tasks show`: everything about a task that the user may want to know. */
export async function showTask({ values, positionals }: ShowArguments): Promise<number> {
  const text = oneArgument("tasks show", positionals, "the number of a task");
  const [read, disk] = await withTaskServer(async (client) => {
    const { id: taskId } = await findTask(client, text);
    const found = await client.call("task/read", { taskId });
    return [found, values.json === true ? undefined : await diskOf(client, taskId)];
  });
  return values.json === true ? printJson(read) : print(taskPage(read, Date.now(), disk));
}

/** Describes the disk space that the task uses on this machine. */
async function diskOf(client: FlintClient, taskId: string): Promise<string | undefined> {
  // Expected: a running server of an earlier version. The page is as good without it.
  const found = await client
    .call("task/clean", { taskIds: [taskId], dryRun: true }, { timeoutMs: DISK_MS })
    .catch(() => undefined);
  if (found === undefined) return undefined;
  const [own] = found.data;
  const isLow = found.freeBytes < found.minFreeBytes;
  return [
    ...(own === undefined ? [] : [`worktree of ${size(own.bytes)}`]),
    `${size(found.freeBytes)} free${isLow ? `, ${size(found.minFreeBytes)} needed` : ""}`,
  ].join(", ");
}

/** A worktree is measured file by file; the page does not wait longer than this for it. */
const DISK_MS = 5000;

/** `flint tasks diff`: the result as a unified diff. Control characters are escaped on a terminal, but not for a program. */
export async function showDiff({
  positionals,
}: {
  readonly positionals: readonly string[];
}): Promise<number> {
  const text = oneArgument("tasks diff", positionals, "the number of a task");
  const { diff } = await withTaskServer(async (client) =>
    client.call("task/diff", { taskId: (await findTask(client, text)).id }),
  );
  return printRaw(diff);
}

/** `flint tasks open`: opens the thread of a task's executor in a session. */
export async function openTask({
  positionals,
}: {
  readonly positionals: readonly string[];
}): Promise<number> {
  const text = oneArgument("tasks open", positionals, "the number of a task");
  const thread = threadOf(await withTaskServer((client) => findTask(client, text)));
  const { resume } = await import("../session/session.ts");
  return resume({ values: {}, positionals: [thread] });
}

/** The thread to open; a usage error that says why there is none. */
export function threadOf({ number, phase, thread }: TaskRow): string {
  if (thread === undefined)
    throw new UsageError(`Task ${number} is ${phase} and has no thread yet. It gets one when it runs.`);
  if (thread.worker !== undefined && thread.worker !== LOCAL_WORKER)
    throw new UsageError(
      `The thread of task ${number} is on worker ${thread.worker}. flint tasks logs ${number} shows what happened.`,
    );
  return thread.threadId;
}

/** A task as a page of text. */
export function taskPage(
  { task, spec, events }: Result<"task/read">,
  now: number,
  disk?: string | undefined,
): string {
  const copied = copiedFiles(events);
  const facts = [
    ["Status", statusOf(task, now)],
    ["Folder", task.cwd],
    ["Executor", spec.executors.map(({ model }) => model ?? "default").join(", ")],
    ["Reviewer", reviewersText(spec)],
    ["Checks", spec.checks.map(({ command }) => command).join(", ") || "none"],
    ...(copied.length === 0 ? [] : [["Copied", copied.join(", ")]]),
    ["Result", resultOf(task)],
    ["Used", usageText(task)],
    ...(disk === undefined ? [] : [["Disk", disk]]),
    ...(task.thread === undefined ? [] : [["Thread", `flint resume ${task.thread.threadId}`]]),
  ];
  const parts = [
    `#${task.number} ${escapeControls(task.title)}\n\n${columns(facts)}`,
    findingsOf(task),
    timeline(events, spec),
    detailOf(task),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** The ignored files that the current attempt got from the user's checkout. */
function copiedFiles(events: Result<"task/read">["events"]): readonly string[] {
  const prepared = events.findLast(({ type }) => type === "round/prepared");
  const event = prepared === undefined ? undefined : taskEventOf(prepared.type, prepared.data);
  return event?.type === "round/prepared" ? (event.data.included ?? []).map(escapeControls) : [];
}

function resultOf({ merge, merged, result }: TaskRow): string {
  if (merged !== undefined) return `${merged.ref} at ${merged.commit?.slice(0, 10) ?? ""}`;
  const at = result?.commit == null ? "" : ` (commit ${result.commit.slice(0, 10)} so far)`;
  return `${merge}${at}`;
}

function findingsOf({ findings }: TaskRow): string {
  if (findings.length === 0) return "";
  const rows = findings.map((finding) => [
    finding.id,
    finding.severity,
    finding.state,
    `${finding.file === undefined ? "" : `${finding.file}${finding.line === undefined ? "" : `:${finding.line}`}: `}${finding.what}`,
  ]);
  return `Findings\n${columns(rows)}`;
}

function timeline(events: Result<"task/read">["events"], spec: TaskSpec): string {
  const lines = events.flatMap((event) => logLines(event, spec)[0] ?? []);
  return lines.length === 0 ? "" : `Timeline\n${lines.join("\n")}\n`;
}

function detailOf(task: TaskRow): string {
  const detail = task.ask?.message ?? task.error ?? task.merged?.note;
  const next = nextStep(task);
  return [detail, next].flatMap((line) => (line === undefined ? [] : [`${escapeControls(line)}\n`])).join("");
}
