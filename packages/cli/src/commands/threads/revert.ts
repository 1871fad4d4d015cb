import { EVENTS, type NotSaved, type Result } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { count } from "@flint/view";
import { oneArgument, UsageError } from "../../command-line/command.ts";
import { columns, print, printJson } from "../../command-line/output.ts";
import { withStoredData } from "../local-server.ts";
import { findThread } from "./thread-reference.ts";
import { findTurn } from "./turn-reference.ts";

interface RevertArguments {
  readonly values: {
    readonly before?: string | undefined;
    readonly files?: string | undefined;
    readonly preview?: boolean | undefined;
    readonly undo?: string | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

type Reverted = Result<"thread/revert"> | Result<"thread/revert/undo">;

/** The options that the report depends on. */
export interface RevertOptions {
  readonly files: "keep" | "restore";
  readonly preview: boolean;
  readonly undo: boolean;
}

/** `flint threads revert ID`: undoes turns, previews that, or undoes a revert. */
export async function revertThread({ values, positionals }: RevertArguments): Promise<number> {
  const reference = oneArgument("threads revert", positionals, "a thread: an id, or last");
  const { files = "keep", preview = false, undo } = values;
  if (files !== "keep" && files !== "restore") {
    throw new UsageError(`--files must be keep or restore, not ${JSON.stringify(files)}.`);
  }
  const result = await withStoredData(async (client): Promise<Reverted> => {
    const { id: threadId } = await findThread(client, reference, process.cwd());
    if (undo !== undefined)
      return client.call("thread/revert/undo", {
        threadId,
        revertId: await revertOf(client, threadId, undo),
      });
    const beforeTurnId =
      values.before === undefined
        ? await latestTurn(client, threadId)
        : await findTurn(client, threadId, values.before);
    return client.call("thread/revert", { threadId, beforeTurnId, files, preview });
  });
  if (values.json === true) return printJson(result);
  return print(revertReport(result, { files, preview, undo: undo !== undefined }));
}

async function latestTurn(client: FlintClient, threadId: string): Promise<string> {
  const { turns = [] } = await client.call("thread/read", { threadId, includeTurns: true, limit: 1 });
  const latest = turns.at(-1);
  if (latest === undefined) throw new UsageError("The thread has no turns to undo.");
  return latest.id;
}

/** The id of the revert to undo: the given one, or for `last` the latest that was not undone. */
async function revertOf(client: FlintClient, threadId: string, requested: string): Promise<string> {
  const reverts: string[] = [];
  const open = new Set<string>();
  const { events } = await client.call("thread/events/list", { threadId });
  for (const { type, data } of events) {
    if (type === "thread/reverted") {
      const { revertId } = EVENTS[type].data.parse(data);
      if (revertId === undefined) continue;
      reverts.push(revertId);
      open.add(revertId);
    } else if (type === "thread/revert/undone") open.delete(EVENTS[type].data.parse(data).revertId);
  }
  const found = requested === "last" ? [...open].at(-1) : reverts.find((revert) => revert === requested);
  if (found !== undefined) return found;
  const message =
    requested === "last"
      ? "There is no revert to undo in this thread."
      : `The thread has no revert ${JSON.stringify(requested)}; --undo last undoes the latest one.`;
  throw new UsageError(message);
}

/** Describes what a revert did or would do. */
export function revertReport(result: Reverted, options: RevertOptions): string {
  const { turnIds, files = [], conflicts = [], notSaved = [] } = result;
  const withFiles = options.undo || options.files === "restore";
  const rows = [
    ...files.map((file) => [
      options.preview ? `would ${file.action}` : file.action,
      file.kindBefore === undefined ? file.path : `${file.path} (${file.kind} instead of ${file.kindBefore})`,
    ]),
    ...conflicts.map(({ path, message }) => ["skipped", `${path}: ${message}`]),
    ...notSavedRows(notSaved),
  ];
  const kept = "Files are unchanged; --files restore would restore them too.\n";
  const about = withFiles ? columns(rows) : kept;
  const isDone = "revertId" in result && result.revertId !== undefined && !options.preview;
  const way = isDone ? `Undo: flint threads revert ${result.thread.id} --undo last\n` : "";
  return `${headline(turnIds.length, options)}\n${about}${way}`;
}

function headline(turns: number, { preview, undo }: RevertOptions): string {
  const many = count(turns, "turn");
  if (undo && turns === 0) return "The thread has new turns, so only files were restored";
  if (undo) return `${many} restored`;
  return `${many} ${preview ? "would be undone" : "undone"}`;
}

const NAMES_SHOWN = 3;

/** A row for each reason, with a few of the names. */
function notSavedRows(notSaved: readonly NotSaved[]): string[][] {
  const groups = new Map<string, NotSaved[]>();
  for (const each of notSaved) groups.set(each.reason, [...(groups.get(each.reason) ?? []), each]);
  return [...groups.values()].map((group) => {
    const [first] = group;
    if (group.length === 1) return ["not saved", `${first?.path ?? ""} ${first?.message ?? ""}`.trim()];
    const names = group.flatMap(({ path }) => path ?? []);
    const more = names.length - NAMES_SHOWN;
    const shown = names.slice(0, NAMES_SHOWN).join(", ");
    const listed = shown === "" ? "" : ` (${shown}${more > 0 ? ` and ${more} more` : ""})`;
    return ["not saved", `${count(group.length, "item")}${listed}: ${first?.message ?? ""}`];
  });
}
