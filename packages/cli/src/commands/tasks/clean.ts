import type { Result } from "@flint/protocol";
import { count, size } from "@flint/view";
import { UsageError } from "../../command-line/command.ts";
import { columns, print, printError, printJson } from "../../command-line/output.ts";
import { findTask, withTaskServer } from "./task-server.ts";

interface CleanArguments {
  readonly values: {
    readonly "dry-run"?: boolean | undefined;
    readonly "older-than"?: string | undefined;
    readonly force?: boolean | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

type Cleaned = Result<"task/clean">;

/** Sizes of many worktrees are counted file by file. */
const TIMEOUT_MS = 600_000;

/** `flint tasks clean`: removes the worktrees of finished tasks, or lists them with their sizes. */
export async function cleanTasks({ values, positionals }: CleanArguments): Promise<number> {
  const { "dry-run": dryRun = false, "older-than": age, force = false } = values;
  const olderThanMs = age === undefined ? undefined : ageOf(age);
  const cleaned = await withTaskServer(async (client) => {
    const taskIds: string[] = [];
    for (const text of positionals) taskIds.push((await findTask(client, text)).id);
    const named = taskIds.length === 0 ? {} : { taskIds };
    const params = { ...named, olderThanMs, force, dryRun };
    return client.call("task/clean", params, { timeoutMs: TIMEOUT_MS });
  });
  if (values.json === true) return printJson(cleaned);
  print(cleanReport(cleaned, dryRun));
  const isRefused = positionals.length > 0 && cleaned.data.some(({ kept }) => kept !== undefined);
  return isRefused ? printError("A task that you named keeps its worktree.", 1) : 0;
}

/** Reports what was or would be removed, what stays and why, and the free space. */
export function cleanReport({ data, freeBytes, minFreeBytes }: Cleaned, dryRun: boolean): string {
  const removed = data.filter(({ kept }) => kept === undefined);
  const bytes = removed.reduce((sum, each) => sum + each.bytes, 0);
  const rows = data.map(({ number, phase, bytes: taken, kept, title }) => [
    ...[`#${number}`, phase, size(taken)],
    kept === undefined ? (dryRun ? "would be removed" : "removed") : `kept: ${kept}`,
    title,
  ]);
  const table =
    rows.length === 0 ? "" : `${columns([["TASK", "STATUS", "SIZE", "WORKTREE", "TITLE"], ...rows])}\n`;
  const what = `${dryRun ? "Would remove" : "Removed"} ${count(removed.length, "worktree")}, ${size(bytes)}.`;
  const least = freeBytes < minFreeBytes ? `, and tasks need ${size(minFreeBytes)} to start a turn` : "";
  return `${table}${what} ${size(freeBytes)} are free${least}.\n`;
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** The milliseconds of an age such as `90m`, `12h`, `7d` or `2w`. */
export function ageOf(text: string): number {
  const [, amount = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (amount === "") throw new UsageError(`--older-than ${text}: write an age such as 90m, 12h, 7d or 2w.`);
  // The pattern allows no other letters.
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}
