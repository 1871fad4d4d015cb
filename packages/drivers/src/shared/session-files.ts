import { constants } from "node:fs";
import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { NativeHistory, NativeSessionInfo, NativeSessions } from "@flint/core/ports";
import { FileAccessError, readPlainFile } from "@flint/host/files";
import { FlintError, isRecord } from "@flint/protocol";
import { dropPrototypeKeys, findExcess } from "@flint/rpc";
import type { Transcripts } from "./sessions/transcripts.ts";

/** Larger sessions are not read; nothing of a session is held twice. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Maximum amount of a file that is read to describe its session. */
const HEAD_BYTES = 256 * 1024;
const MAX_FILES = 20_000;
/** An agent that runs may have put a link or a pipe in place of a file that was listed. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A line of a session's file. */
export type SessionLine = Readonly<Record<string, unknown>>;

/** A file with a session of an agent. */
interface SessionFile {
  readonly id: string;
  readonly path: string;
  readonly updatedAtMs: number;
}

/** The place in which an agent stores its sessions. */
export interface SessionPlace {
  readonly root: string;
  /** Number of folder levels above the files. */
  readonly depth: number;
  /** Matches the name of a file; its first group is the id of the session. */
  readonly name: RegExp;
}

/** The place in an agent's own folder of the sessions that it resumes. */
export function sessionPlaceIn(folder: string, { folder: name, ...files }: Transcripts): SessionPlace {
  return { root: join(folder, name), ...files };
}

/** The facts about a session that its lines contain. */
export type SessionHead = Pick<NativeSessionInfo, "cwd" | "preview">;

/** The way an agent stores its sessions, and the meaning of their lines. */
export interface SessionFormat {
  readonly agentName: string;
  readonly place: SessionPlace;
  /** Its own sessions are listed; those of its sub-agents belong to them. */
  isListed?(lines: readonly SessionLine[]): boolean;
  describe(lines: readonly SessionLine[]): SessionHead;
  history(lines: readonly SessionLine[], cwd: string): Promise<Pick<NativeHistory, "model" | "turns">>;
}

/** The sessions in an agent's own folder. */
export class SessionFolder implements NativeSessions {
  readonly #format: SessionFormat;

  constructor(format: SessionFormat) {
    this.#format = format;
  }

  async list(limit: number): Promise<readonly NativeSessionInfo[]> {
    const files = (await sessionFiles(this.#format.place)).slice(0, limit);
    const heads = await Promise.all(files.map(async (file) => ({ file, lines: await sessionHead(file) })));
    return heads
      .filter(({ lines }) => this.#format.isListed?.(lines) ?? true)
      .map(({ file, lines }) => this.#info(file, lines))
      .filter(({ cwd }) => cwd !== "");
  }

  async read(id: string): Promise<NativeHistory> {
    const file = await sessionFile(this.#format, id);
    const { lines, unreadable } = await readSession(file, this.#format.place);
    const session = this.#info(file, lines);
    const history = await this.#format.history(lines, session.cwd);
    return { session, ...history, notes: unreadableNote(unreadable) };
  }

  #info({ id, updatedAtMs }: SessionFile, lines: readonly SessionLine[]): NativeSessionInfo {
    return { id, ...this.#format.describe(lines), updatedAt: Math.floor(updatedAtMs / 1000) };
  }
}

/** The files of an agent's sessions, the latest first. Links are not followed. Never rejects. */
async function sessionFiles({ root, depth, name }: SessionPlace): Promise<readonly SessionFile[]> {
  const found: SessionFile[] = [];
  const visit = async (folder: string, level: number): Promise<void> => {
    // Expected: the agent was never used, or the folder is not readable.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (found.length >= MAX_FILES) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && level < depth) await visit(path, level + 1);
      const id = entry.isFile() && level === depth ? name.exec(entry.name)?.[1] : undefined;
      const about = id === undefined ? undefined : await stat(path).catch(() => undefined);
      if (id !== undefined && about !== undefined) found.push({ id, path, updatedAtMs: about.mtimeMs });
    }
  };
  await visit(root, 0);
  return found.sort((a, b) => b.updatedAtMs - a.updatedAtMs);
}

/** The file of a session. Throws a FlintError if there is none. */
async function sessionFile({ agentName, place }: SessionFormat, id: string): Promise<SessionFile> {
  const found = (await sessionFiles(place)).find((file) => file.id === id);
  if (found !== undefined) return found;
  const message = `${agentName} has no session ${JSON.stringify(id.slice(0, 80))} in ${place.root}. List them with flint threads import.`;
  throw new FlintError("invalidParams", message, { field: "sessionId" });
}

/** The lines of a session, and how many of them could not be read. The last one may be half written. */
interface SessionLines {
  readonly lines: readonly SessionLine[];
  readonly unreadable: number;
}

/** Reads a session. Rejects with a FlintError if it is not a plain file, or too large. */
async function readSession({ path }: SessionFile, { root }: SessionPlace): Promise<SessionLines> {
  try {
    const [real, realRoot] = await Promise.all([realpath(path), realpath(root)]);
    if (real !== join(realRoot, path.slice(root.length)))
      throw new FileAccessError(`${path} is reached by a link.`);
    return linesOf((await readPlainFile(real, MAX_BYTES, path)).toString("utf8"));
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    const message = `The session cannot be read: ${thrown.message}`;
    throw new FlintError("invalidParams", message, { field: "sessionId" }, { cause: thrown });
  }
}

/** The first lines of a session, for a description. Never rejects. */
async function sessionHead({ path }: SessionFile): Promise<readonly SessionLine[]> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, READ);
    if (!(await file.stat()).isFile()) return [];
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return linesOf(buffer.subarray(0, bytesRead).toString("utf8")).lines;
  } catch {
    // Expected: it was deleted a moment ago, or is not readable.
    return [];
  } finally {
    await file?.close();
  }
}

function linesOf(text: string): SessionLines {
  const texts = text.split("\n");
  const lines: SessionLine[] = [];
  let unreadable = 0;
  for (const [index, line] of texts.entries()) {
    if (line.trim() === "") continue;
    const parsed = parsedLine(line);
    if (parsed !== undefined) lines.push(parsed);
    // The last line has no end yet if the agent is still writing it.
    else if (index < texts.length - 1) unreadable += 1;
  }
  return { lines, unreadable };
}

/** Undefined also for a line that no message may be like: what is nested too deeply cannot be stored. */
function parsedLine(line: string): SessionLine | undefined {
  // Expected: half a line, or a file that is not a session.
  try {
    if (findExcess(line) !== undefined) return undefined;
    const value: unknown = JSON.parse(line);
    dropPrototypeKeys(value);
    return isRecord(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the notice about lines that could not be read. */
function unreadableNote(unreadable: number): readonly string[] {
  if (unreadable === 0) return [];
  return [`${unreadable} ${unreadable === 1 ? "line" : "lines"} of the session could not be read.`];
}

/** A time as the agents write it, in unix milliseconds. */
export function timeOf(line: SessionLine | undefined): number | undefined {
  const time = typeof line?.timestamp === "string" ? Date.parse(line.timestamp) : Number.NaN;
  return Number.isFinite(time) ? time : undefined;
}
