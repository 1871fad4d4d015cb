import { type Result, type TaskSpec, taskEventOf } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { hasEnded, taskLogLine } from "@flint/view/tasks";
import { oneArgument } from "../../command-line/command.ts";
import { print, printRaw } from "../../command-line/output.ts";
import { findTask, followTasks, withTaskServer } from "./task-server.ts";

interface LogsArguments {
  readonly values: { readonly follow?: boolean | undefined; readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

type LoggedEvent = Result<"task/read">["events"][number];

const POLL_MS = 30_000;

/** `flint tasks logs`: what happened to a task, with the agents' reasoning; with -f until it ends or waits for the user. */
export async function showLogs({ values, positionals }: LogsArguments): Promise<number> {
  const text = oneArgument("tasks logs", positionals, "the number of a task");
  const follow = values.follow === true ? followTasks : withTaskServer;
  let after = 0;
  return follow(async (client) => {
    const { id: taskId } = await findTask(client, text);
    let revision: number | undefined;
    for (;;) {
      // The list comes first: what happens after it is in the next one.
      revision = await changed(client, revision);
      const { task, spec, events } = await client.call("task/read", { taskId, after });
      after = events.at(-1)?.version ?? after;
      for (const event of events) printEvent(event, spec, values.json === true);
      const isWaiting = hasEnded(task) || task.phase === "asking" || task.phase === "approving";
      if (values.follow !== true || isWaiting) return 0;
    }
  });
}

async function changed(client: FlintClient, revision: number | undefined): Promise<number> {
  const known = revision === undefined ? {} : { revision, timeoutMs: POLL_MS };
  return (await client.call("task/list", known, { timeoutMs: 2 * POLL_MS })).revision;
}

function printEvent(event: LoggedEvent, spec: TaskSpec, asJson: boolean): void {
  if (asJson) printRaw(`${JSON.stringify(event)}\n`);
  else for (const line of logLines(event, spec)) print(`${line}\n`);
}

/** The lines of an event in a log: the first with its time, the others below it. */
export function logLines({ type, at, data }: LoggedEvent, spec: TaskSpec): string[] {
  const event = taskEventOf(type, data);
  const text = event === undefined ? undefined : taskLogLine(event, spec);
  if (text === undefined) return [];
  const time = new Date(at).toLocaleString("sv");
  const [first = "", ...rest] = text.split("\n").map(escapeControls);
  return [`${time}  ${first}`, ...rest.map((line) => `${" ".repeat(time.length + 2)}${line}`)];
}
