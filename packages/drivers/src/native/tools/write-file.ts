import { resolve } from "node:path";
import type { FileUpdateChange, Item, ThreadSettings } from "@flint/protocol";
import { declined, failed, INTERRUPTED, type Tool, type ToolContext, type ToolOutcome } from "./tool.ts";
import { unifiedDiff } from "./unified-diff.ts";
import { FileRefusal, WorkspaceFile } from "./workspace-file.ts";

type FileItem = Item<"fileChange">;

/** Gives a file of the workspace a new text; the user sees the exact difference first. */
export const WRITE_FILE: Tool = {
  name: "write_file",
  description: "Replaces the text of a file in the workspace. Input: { path: string, content: string }.",
  async run(input, context): Promise<ToolOutcome> {
    const { path, content } = input;
    if (typeof path !== "string" || typeof content !== "string") {
      return failed("write_file needs a path and a content.");
    }
    // Expected: a file that may not be written, a full disk, a folder without permission.
    try {
      return await new WriteCall(path, content, context).run();
    } catch (thrown) {
      return refuse(path, thrown instanceof Error ? thrown.message : String(thrown), context);
    }
  },
};

class WriteCall {
  readonly #path: string;
  readonly #content: string;
  readonly #context: ToolContext;

  constructor(path: string, content: string, context: ToolContext) {
    this.#path = path;
    this.#content = content;
    this.#context = context;
  }

  async run(): Promise<ToolOutcome> {
    const { settings } = this.#context.turn;
    const file = await WorkspaceFile.locate(this.#path, settings.cwd, writableRoots(settings));
    const before = await file.read();
    if (before === this.#content) return done(`${file.relativePath} has this text already.`);
    const kind = before === undefined ? "add" : "modify";
    const diff = unifiedDiff(file.relativePath, before, this.#content);
    return this.#propose({ path: file.path, kind, diff }, async () => {
      await file.replace(before, this.#content);
      return done(`${file.relativePath} was ${kind === "add" ? "added" : "changed"}.`);
    });
  }

  async #propose(change: FileUpdateChange, apply: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const { turn, signal, itemId } = this.#context;
    const item: FileItem = { type: "fileChange", id: itemId, changes: [change], status: "inProgress" };
    const complete = (rest: Partial<FileItem>) =>
      turn.emit({ type: "item/completed", item: { ...item, ...rest } });
    turn.emit({ type: "item/started", item });
    const decision = await turn.approve({ kind: "fileChange", itemId, changes: [change] });
    if (signal.aborted) return INTERRUPTED;
    if (decision.outcome !== "allow") {
      complete({ status: "declined" });
      return decision.outcome === "cancel" ? INTERRUPTED : declined(decision.message);
    }
    // Expected: the file changed while the user was asked, or the disk refuses.
    try {
      const outcome = await apply();
      complete({ status: "completed" });
      return outcome;
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      complete({ status: "failed", output: reason });
      return failed(reason);
    }
  }
}

/** Shows what was not even tried, so that the user sees what the agent wanted. */
function refuse(path: string, reason: string, { turn, itemId }: ToolContext): ToolOutcome {
  const changes: FileUpdateChange[] = [{ path: resolve(turn.settings.cwd, path), kind: "modify", diff: "" }];
  const item: FileItem = { type: "fileChange", id: itemId, changes, status: "inProgress" };
  turn.emit({ type: "item/started", item });
  turn.emit({ type: "item/completed", item: { ...item, status: "failed", output: reason } });
  return failed(reason);
}

/** The folders that the policy lets be written. A freer sandbox frees commands, not this tool. */
function writableRoots({ cwd, sandboxPolicy }: ThreadSettings): readonly string[] {
  switch (sandboxPolicy.type) {
    case "readOnly":
      throw new FileRefusal("The sandbox policy readOnly lets no file be changed.");
    case "workspaceWrite":
      return [cwd, ...(sandboxPolicy.writableRoots ?? [])];
    case "dangerFullAccess":
    case "externalSandbox":
      return [cwd];
  }
}

function done(text: string): ToolOutcome {
  return { result: { status: "done", text } };
}
