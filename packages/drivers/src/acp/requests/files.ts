import { constants } from "node:fs";
import { open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { orAborted, type Sandbox } from "@flint/core/ports";
import type { UnifiedDiff } from "@flint/host/files";
import {
  type Decision,
  type FileUpdateChange,
  type Item,
  isUnconfined,
  numberOf,
  stringOf,
  type ThreadSettings,
} from "@flint/protocol";
import type { JsonObject } from "../../shared/json.ts";
import { RequestRefusal } from "../process/connection.ts";
import type { RequestContext } from "./permissions.ts";

/** Both texts of a change go over a wire in one line, so neither may be of any size. */
const MAX_BYTES = 4 * 1024 * 1024;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
/** Writes its input to the named file, and creates the folder of the file. */
const WRITE_SCRIPT = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"';
const STOPPED: Decision = { outcome: "cancel", scope: "once" };

/** A file in the workspace, with the links in its path resolved. */
interface LocatedFile {
  readonly path: string;
  /** Relative to the workspace. */
  readonly shown: string;
}

/** The files of the workspace, for agents that read and write them through their client. */
export class WorkspaceFiles {
  readonly #sandbox: Sandbox;
  readonly #diff: UnifiedDiff;

  constructor(sandbox: Sandbox, diff: UnifiedDiff) {
    this.#sandbox = sandbox;
    this.#diff = diff;
  }

  /** The text of a file, or some lines of it. */
  async read(params: JsonObject, { turn }: RequestContext): Promise<object> {
    const { path, shown } = await locate(params, turn.settings);
    const content = await readText(path, shown);
    if (content === undefined) throw new RequestRefusal("notFound", `${shown} does not exist.`);
    const line = numberOf(params.line) ?? 1;
    const limit = numberOf(params.limit) ?? Number.POSITIVE_INFINITY;
    if (line <= 1 && limit === Number.POSITIVE_INFINITY) return { content };
    const first = Math.max(0, line - 1);
    return {
      content: content
        .split(/(?<=\n)/)
        .slice(first, first + limit)
        .join(""),
    };
  }

  /** Writes a file once the user approved exactly that, as far as the sandbox allows it. */
  async write(params: JsonObject, context: RequestContext): Promise<object> {
    const { settings } = context.turn;
    const text = stringOf(params.content);
    if (text === undefined || text.length > MAX_BYTES)
      throw new RequestRefusal("invalidParams", "content has to be text of at most 4 MB.");
    if (settings.sandboxPolicy.type === "readOnly")
      throw new RequestRefusal("invalidParams", "The sandbox policy readOnly does not allow writing files.");
    const file = await locate(params, settings);
    if (isUnconfined(settings.sandboxPolicy)) refuseHidden(file.shown);
    const before = await readText(file.path, file.shown);
    if (before === text) return {};
    if (context.approved.hasWrite(stringOf(params.path) ?? "", before ?? "", text))
      await this.#put(file, text, context);
    else await this.#writeIfApproved(file, before, text, context);
    return {};
  }

  async #writeIfApproved(
    file: LocatedFile,
    before: string | undefined,
    after: string,
    context: RequestContext,
  ): Promise<void> {
    const diff = this.#diff({ path: file.shown, before, after });
    const kind = before === undefined ? "add" : "modify";
    const changes: FileUpdateChange[] = [{ path: file.path, kind, diff }];
    const itemId = context.takeItemId();
    const item: Item<"fileChange"> = { type: "fileChange", id: itemId, changes, status: "inProgress" };
    const complete = (status: "completed" | "failed" | "declined") =>
      context.emit({ type: "item/completed", item: { ...item, status } });
    context.emit({ type: "item/started", item });
    const action = { kind: "fileChange" as const, itemId, changes };
    const decision = await orAborted(context.turn.approve(action), context.signal, STOPPED);
    if (decision.outcome !== "allow" || context.signal.aborted) {
      complete("declined");
      throw new RequestRefusal("invalidParams", decision.message ?? "The user declined this change.");
    }
    await this.#put(file, after, context).catch((thrown) => {
      complete("failed");
      throw thrown;
    });
    complete("completed");
  }

  /** Written by a command in the sandbox, so that no link that changes at the last moment leads out of it. */
  async #put({ path, shown }: LocatedFile, text: string, { turn }: RequestContext): Promise<void> {
    const { cwd, sandboxPolicy: policy } = turn.settings;
    const command = ["sh", "-c", WRITE_SCRIPT, "sh", path];
    const running = await this.#sandbox.start({ command, cwd, workspace: cwd, policy, environment: {} });
    let stderr = "";
    running.stdout.resume();
    running.stderr.setEncoding("utf8").on("data", (data: string) => {
      stderr = (stderr + data).slice(0, 500);
    });
    running.stdin.end(text);
    const { exitCode } = await running.exited;
    if (exitCode !== 0)
      throw new RequestRefusal("internalError", `${shown} could not be written: ${stderr.trim()}`);
  }
}

/** Finds the file that a request names, in the folders that the thread may write. */
async function locate(params: JsonObject, { cwd, sandboxPolicy }: ThreadSettings): Promise<LocatedFile> {
  const path = stringOf(params.path) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such names would forge the lines of a diff
  if (!isAbsolute(path) || /[\u0000-\u001f\u007f]/.test(path))
    throw new RequestRefusal("invalidParams", "path has to be the absolute path of a file.");
  const listed = sandboxPolicy.type === "workspaceWrite" ? (sandboxPolicy.writableRoots ?? []) : [];
  const roots = await Promise.all([cwd, ...listed].map((root) => realpath(root).catch(() => root)));
  const real = await resolvedPath(path);
  for (const root of roots) {
    const inside = relative(root, real);
    if (inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
      return { path: real, shown: inside };
  }
  throw new RequestRefusal("invalidParams", `${path} is outside of the workspace.`);
}

/** The path with its links resolved as far as it exists. */
async function resolvedPath(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () =>
    parent === path ? path : join(await resolvedPath(parent), basename(path)),
  );
}

/** Without a sandbox nothing else protects the hidden files that configure agents and shells. */
function refuseHidden(shown: string): void {
  const hidden = shown.split(sep).find((name) => name.startsWith("."));
  if (hidden === undefined) return;
  throw new RequestRefusal(
    "invalidParams",
    `${hidden} may configure agents or shells, so it cannot be written through the client.`,
  );
}

/** The text of a plain file at a real path; undefined if there is none. Rejects if the path has become another one since. */
export async function readText(path: string, shown: string): Promise<string | undefined> {
  const file = await open(path, READ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new RequestRefusal("invalidParams", `${shown} cannot be read: ${error.code}.`);
  });
  if (file === undefined) return undefined;
  try {
    // A command of the agent may have put a link in place of a folder on the way.
    if ((await readlink(`/proc/self/fd/${file.fd}`).catch(() => path)) !== path)
      throw new RequestRefusal("invalidParams", `${shown} was moved while it was read.`);
    const found = await file.stat();
    if (!found.isFile()) throw new RequestRefusal("invalidParams", `${shown} is not a plain file.`);
    if (found.size > MAX_BYTES) throw new RequestRefusal("invalidParams", `${shown} is larger than 4 MB.`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
