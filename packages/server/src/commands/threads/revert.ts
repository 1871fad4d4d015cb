import type { Result } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { oneArgument, UsageError } from "../arguments.ts";
import { withServer } from "../local-server.ts";
import { columns, say, sayJson } from "../output.ts";
import { findThread } from "../thread-reference.ts";

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

/** `flint threads revert ID`: goes back before a turn, shows what that would do, or takes it back. */
export async function revertThread({ values, positionals }: RevertArguments): Promise<number> {
  const reference = oneArgument("threads revert", positionals, "a thread: an id, or last");
  const { files = "keep", preview = false, undo } = values;
  if (files !== "keep" && files !== "restore") {
    throw new UsageError(`--files takes keep or restore; not ${JSON.stringify(files)}.`);
  }
  const result = await withServer(async (client): Promise<Reverted> => {
    const { id: threadId } = await findThread(client, reference, process.cwd());
    if (undo !== undefined) return client.call("thread/revert/undo", { threadId, revertId: undo });
    const beforeTurnId = values.before ?? (await latestTurn(client, threadId));
    return client.call("thread/revert", { threadId, beforeTurnId, files, preview });
  });
  return values.json === true ? sayJson(result) : say(report(result, preview, undo !== undefined));
}

async function latestTurn(client: FlintClient, threadId: string): Promise<string> {
  const { turns = [] } = await client.call("thread/read", { threadId, includeTurns: true, limit: 1 });
  const latest = turns.at(-1);
  if (latest === undefined) throw new UsageError("The thread has no turn to go back from.");
  return latest.id;
}

function report(result: Reverted, preview: boolean, undone: boolean): string {
  const { turnIds, files = [], conflicts = [], notSaved = [] } = result;
  const turns = `${turnIds.length} turn${turnIds.length === 1 ? "" : "s"}`;
  const verb = preview ? "would be dropped" : undone ? "are back" : "dropped";
  const rows = [
    ...files.map(({ path, action }) => [preview ? `would ${action}` : action, path]),
    ...conflicts.map(({ path, message }) => ["left alone", `${path}: ${message}`]),
    ...notSaved.map(({ path = "", message }) => ["not saved", `${path} ${message}`.trim()]),
  ];
  const revertId = "revertId" in result ? result.revertId : undefined;
  const way =
    revertId === undefined || preview
      ? ""
      : `Take it back: flint threads revert ${result.thread.id} --undo ${revertId}\n`;
  return `${turns} ${verb}\n${columns(rows)}${way}`;
}
