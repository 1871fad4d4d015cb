import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { orAborted, type Sandbox } from "@flint/core/ports";
import type { UnifiedDiff } from "@flint/host/files";
import {
  type Decision,
  type FileUpdateChange,
  type Item,
  isUnconfined,
  type ThreadSettings,
} from "@flint/protocol";
import { RequestRefusal } from "../process/request-refusal.ts";
import { type JsonObject, numberOf, stringOf } from "../wire.ts";
import type { Desk } from "./desk.ts";

/** Both texts of a change go over a wire in one line, so neither can be of any size. */
const FILE_BYTES = 4 * 1024 * 1024;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
/** Writes what comes in to the file that is named, in its folder, which is made if need be. */
const WRITER = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"';
const DENIED: Decision = { outcome: "cancel", scope: "once" };

/** A file that may be touched, with the links on the way to it resolved. */
interface Place {
  readonly path: string;
  readonly shown: string;
}

/** The files of the workspace, for agents that read and write them through their client. */
export class FileService {
  readonly #sandbox: Sandbox;
  readonly #diff: UnifiedDiff;

  constructor(sandbox: Sandbox, diff: UnifiedDiff) {
    this.#sandbox = sandbox;
    this.#diff = diff;
  }

  /** The text of a file, or some lines of it. */
  async read(params: JsonObject, { turn }: Desk): Promise<object> {
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

  /** Writes a file, once the user allowed exactly that, within what the sandbox lets be written. */
  async write(params: JsonObject, desk: Desk): Promise<object> {
    const { settings } = desk.turn;
    const text = stringOf(params.content);
    if (text === undefined || text.length > FILE_BYTES)
      throw new RequestRefusal("invalidParams", "content has to be text of at most 4 MB.");
    if (settings.sandboxPolicy.type === "readOnly")
      throw new RequestRefusal("invalidParams", "The sandbox policy readOnly lets no file be changed.");
    const place = await locate(params, settings);
    if (isUnconfined(settings.sandboxPolicy)) refuseHidden(place.shown);
    const before = await readText(place.path, place.shown);
    if (before === text) return {};
    if (desk.allowed.hasWrite(stringOf(params.path) ?? "", before ?? "", text))
      await this.#put(place, text, desk);
    else await this.#propose(place, before, text, desk);
    return {};
  }

  async #propose(place: Place, before: string | undefined, after: string, desk: Desk): Promise<void> {
    const diff = this.#diff({ path: place.shown, before, after });
    const kind = before === undefined ? "add" : "modify";
    const changes: FileUpdateChange[] = [{ path: place.path, kind, diff }];
    const itemId = desk.takeItemId();
    const item: Item<"fileChange"> = { type: "fileChange", id: itemId, changes, status: "inProgress" };
    const complete = (status: "completed" | "failed" | "declined") =>
      desk.emit({ type: "item/completed", item: { ...item, status } });
    desk.emit({ type: "item/started", item });
    const action = { kind: "fileChange" as const, itemId, changes };
    const decision = await orAborted(desk.turn.approve(action), desk.signal, DENIED);
    if (decision.outcome !== "allow" || desk.signal.aborted) {
      complete("declined");
      throw new RequestRefusal(
        "invalidParams",
        decision.message ?? "The user does not want this to be written.",
      );
    }
    await this.#put(place, after, desk).catch((thrown) => {
      complete("failed");
      throw thrown;
    });
    complete("completed");
  }

  /** Written by a command in the sandbox, so that no link that changes at the last moment leads out of it. */
  async #put({ path, shown }: Place, text: string, { turn }: Desk): Promise<void> {
    const { cwd, sandboxPolicy: policy } = turn.settings;
    const command = ["sh", "-c", WRITER, "sh", path];
    const running = await this.#sandbox.start({ command, cwd, workspace: cwd, policy, environment: {} });
    let said = "";
    running.stdout.resume();
    running.stderr.setEncoding("utf8").on("data", (data: string) => {
      said = (said + data).slice(0, 500);
    });
    running.stdin.end(text);
    const { exitCode } = await running.exited;
    if (exitCode !== 0)
      throw new RequestRefusal("internalError", `${shown} could not be written: ${said.trim()}`);
  }
}

/** Finds the file that an agent means, inside the folders that the thread may write. */
async function locate(params: JsonObject, { cwd, sandboxPolicy }: ThreadSettings): Promise<Place> {
  const path = stringOf(params.path) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such names would forge the lines of a diff
  if (!isAbsolute(path) || /[\u0000-\u001f\u007f]/.test(path))
    throw new RequestRefusal("invalidParams", "path has to be the absolute path of a file.");
  const listed = sandboxPolicy.type === "workspaceWrite" ? (sandboxPolicy.writableRoots ?? []) : [];
  const roots = await Promise.all([cwd, ...listed].map((root) => realpath(root).catch(() => root)));
  const real = await realPlace(path);
  for (const root of roots) {
    const inside = relative(root, real);
    if (inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
      return { path: real, shown: inside };
  }
  throw new RequestRefusal("invalidParams", `${path} lies outside of the workspace.`);
}

/** The path with its links resolved as far as it exists. */
async function realPlace(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () =>
    parent === path ? path : join(await realPlace(parent), basename(path)),
  );
}

/** Nothing guards the hidden files that steer agents and shells where commands are not confined. */
function refuseHidden(shown: string): void {
  const hidden = shown.split(sep).find((name) => name.startsWith("."));
  if (hidden === undefined) return;
  throw new RequestRefusal(
    "invalidParams",
    `${hidden} may steer agents or shells, so it is not written this way.`,
  );
}

/** The text of a plain file; undefined if there is none. */
async function readText(path: string, shown: string): Promise<string | undefined> {
  const file = await open(path, READ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new RequestRefusal("invalidParams", `${shown} cannot be read: ${error.code}.`);
  });
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new RequestRefusal("invalidParams", `${shown} is not a plain file.`);
    if (found.size > FILE_BYTES) throw new RequestRefusal("invalidParams", `${shown} is larger than 4 MB.`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
