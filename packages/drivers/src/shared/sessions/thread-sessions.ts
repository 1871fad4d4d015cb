import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, realpath, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { processOwner } from "@flint/host/files";
import { errorMessage } from "@flint/protocol";
import { isInUse, loadRecord, type OwnSession, type SessionRecord, saveRecord } from "./session-record.ts";
import { publicationOf, type SessionFile, TranscriptFiles } from "./transcript-files.ts";
import type { Transcripts } from "./transcripts.ts";

/** Options of the sessions of one thread: their folders, and the format of their files. */
export interface ThreadSessionsOptions {
  /** Flint's folder for the sessions of all threads. */
  readonly root: string;
  readonly threadId: string;
  /** The agent's own folder. */
  readonly folder: string;
  readonly transcripts: Transcripts;
  /** The folders in it of which the thread has its own. */
  readonly names: readonly string[];
  /** The workspace of the thread. */
  readonly cwd: string;
}

/** Time for which sessions that could not be published are kept while their thread is not used. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Time between two looks for a session that another thread's agent has begun, and the number of further looks. */
const WRITTEN_MS = 200;
const MAX_TRIES = 10;

/** Larger sessions are published once their agent has ended: to check one takes time in which nothing else is done. */
const MAX_BYTES_AFTER_TURN = 16 * 1024 * 1024;

/** An agent could report anything as the id of a session. */
const ID = /^[A-Za-z0-9-]{1,100}$/;

/** Those in use, or being published, by their folder. */
const OPEN = new Map<string, ThreadSessions>();

/**
 * The sessions of one thread's agent while it runs in a sandbox: files of Flint's own in place of those in the agent's
 * folder. The agent gets the sessions that the thread has to do with. Once none of its processes is left, its own sessions
 * replace the originals, as plain files that choose no mode, and only if those are what they were.
 */
export class ThreadSessions {
  readonly #options: ThreadSessionsOptions;
  readonly #folder: string;
  readonly #own: TranscriptFiles;
  readonly #originals: TranscriptFiles;
  #last: Promise<unknown> = Promise.resolve();
  #record: SessionRecord;
  #users = 0;

  private constructor(options: ThreadSessionsOptions, folder: string, record: SessionRecord) {
    const { transcripts } = options;
    this.#options = options;
    this.#folder = folder;
    this.#record = record;
    this.#own = new TranscriptFiles(join(folder, "files"), transcripts);
    this.#originals = new TranscriptFiles(options.folder, transcripts);
  }

  /** Opens them for a process, which has to release them. First publishes what servers have left that were killed. */
  static async open(options: ThreadSessionsOptions): Promise<ThreadSessions> {
    const digest = await folderDigest(options.folder);
    await publishAbandoned(options, digest);
    const folder = join(options.root, threadName(options.threadId), digest);
    const sessions = await ThreadSessions.#at(options, folder);
    sessions.#users += 1;
    OPEN.set(folder, sessions);
    await sessions.#inOrder(() => sessions.#prepare(options.cwd));
    return sessions;
  }

  /**
   * Has a session published that the agent of another thread works on, so that it can be copied or resumed. Never rejects.
   */
  static async publish(options: Omit<ThreadSessionsOptions, "threadId">, id: string): Promise<void> {
    const digest = await folderDigest(options.folder);
    for (const threadId of await namesIn(options.root)) {
      const folder = join(options.root, threadId, digest);
      const record = await loadRecord(folder);
      if (record === undefined || !Object.hasOwn(record.sessions, id) || (await isInUse(record))) continue;
      const sessions = await ThreadSessions.#at({ ...options, threadId }, folder);
      await sessions.#publishNow([id]);
      sessions.#forgetUnused();
    }
  }

  /** Deletes the sessions of a thread that was deleted, published or not, unless another process uses them. */
  static async removeAll(root: string, threadId: string): Promise<void> {
    const thread = join(root, threadName(threadId));
    for (const name of await namesIn(thread)) {
      const folder = join(thread, name);
      const [open, record] = [OPEN.get(folder), await loadRecord(folder)];
      if (open !== undefined) await open.#inOrder(() => open.#remove());
      else if (record === undefined || !(await isInUse(record))) await removeFolder(folder);
    }
  }

  static async #at(options: ThreadSessionsOptions, folder: string): Promise<ThreadSessions> {
    const { cwd } = options;
    const stored = (await loadRecord(folder)) ?? { sessions: {}, copies: [], problems: [], cwd };
    const known = OPEN.get(folder);
    if (known !== undefined) return known;
    const sessions = new ThreadSessions(options, folder, { ...stored, owner: await processOwner() });
    const meanwhile = OPEN.get(folder);
    OPEN.set(folder, meanwhile ?? sessions);
    return meanwhile ?? sessions;
  }

  /** The folder that the agent sees in place of one in its own folder. */
  source(name: string): string {
    return join(this.#folder, "files", name);
  }

  /** Gives the agent a session that the thread resumes, and has it published with everything that is added to it. */
  resume(id: string): Promise<void> {
    return this.#inOrder(async () => {
      const known = this.#known(id);
      if (!ID.test(id) || (known !== undefined && (await this.#own.find(id)).length > 0)) return;
      const copied = await this.#copyIn(id);
      this.#record.sessions[id] = { ...known, ...copied };
      await this.#save();
    });
  }

  /** Gives the agent a session of another thread, to begin with a copy of it. Changes of it are dropped. */
  copy(id: string): Promise<void> {
    return this.#inOrder(async () => {
      if (!ID.test(id) || (this.#known(id) !== undefined && (await this.#own.find(id)).length > 0)) return;
      const { original } = await this.#copyIn(id);
      if (original !== undefined) this.#record.copies.push(original.path);
      await this.#save();
    });
  }

  /** Reports whether a session that the agent says it has begun can be its own: there was none with this id. */
  claim(id: string): Promise<boolean> {
    return this.#inOrder(async () => {
      if (this.#known(id) !== undefined) return true;
      if (!ID.test(id) || (await this.#originals.find(id)).length > 0 || (await this.#isAnothers(id)))
        return false;
      this.#record.sessions[id] = {};
      await this.#save();
      return true;
    });
  }

  /** Returns the reasons why sessions of the thread could not be published; empty after the first call. */
  async takeProblems(): Promise<readonly string[]> {
    return this.#inOrder(async () => {
      const { problems } = this.#record;
      this.#record.problems = [];
      if (problems.length > 0) await this.#save();
      return problems;
    });
  }

  /** Publishes what the agent has written so far, if that is not much. Never rejects. */
  async publish(): Promise<void> {
    await this.#publishNow(Object.keys(this.#record.sessions), MAX_BYTES_AFTER_TURN);
  }

  /** Publishes the sessions, once no process can write them any more. Never rejects. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await this.#publishNow(Object.keys(this.#record.sessions));
    this.#forgetUnused();
  }

  /** Runs one task after the other, whether or not one fails. */
  #inOrder<Value>(task: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #prepare(cwd: string): Promise<void> {
    for (const name of this.#options.names) await mkdir(this.source(name), { recursive: true, mode: 0o700 });
    this.#record.owner = await processOwner();
    this.#record.cwd = await realpath(cwd).catch(() => cwd);
    await this.#save();
  }

  #forgetUnused(): void {
    if (this.#users === 0 && OPEN.get(this.#folder) === this) OPEN.delete(this.#folder);
  }

  /** Expected: a full disk, or a folder that cannot be written. What was not published stays. */
  #publishNow(ids: readonly string[], limit: number = Number.POSITIVE_INFINITY): Promise<void> {
    const publish = async () => {
      for (const id of ids) {
        const problem = await this.#publish(id, limit).catch(errorMessage);
        if (problem === undefined) await this.#removePublished(id);
        else this.#addProblem(unpublished(id, this.#folder, problem));
      }
      await (this.#users === 0 ? this.#finish() : this.#save());
    };
    return this.#inOrder(publish).catch(() => undefined);
  }

  #addProblem(problem: string): void {
    this.#record.problems = [...new Set([...this.#record.problems, problem])];
  }

  /** Publishes a session. Returns the reason why it cannot be; undefined if it was, or there is nothing to publish yet. */
  async #publish(id: string, limit: number): Promise<string | undefined> {
    const { transcripts } = this.#options;
    const { cwd } = this.#record;
    const [path, ...others] = await this.#own.find(id);
    if (path === undefined) return undefined;
    if (others.length > 0) return "there are several files with it";
    const written = await this.#own.readAt(path);
    if (written === undefined) return "its file is not a plain file, or too large";
    if (written.content.length > limit) return undefined;
    const known = this.#known(id)?.original;
    const existing = await this.#originals.find(id);
    const original = known === undefined ? undefined : await this.#originals.readAt(known.path);
    if (known === undefined && existing.length > 0) return "there is another one with its id";
    if (known !== undefined && (original === undefined || original.identity !== known.identity))
      return "the original was changed or removed outside of Flint meanwhile";
    if (known !== undefined && known.path !== path) return "its file was moved";
    const before = original && { content: original.content, known: known?.known ?? 0 };
    const publication = publicationOf(transcripts, written, before, { id, cwd });
    if (publication === undefined) return undefined;
    if ("problem" in publication) return publication.problem;
    await this.#originals.write(path, publication.content);
    const next = await this.#originals.readAt(path);
    const published = next && { path, identity: next.identity, known: known?.known ?? 0 };
    this.#record.sessions[id] = published === undefined ? {} : { original: published };
    return undefined;
  }

  /** No session is stored twice, unless the agent is still running. */
  async #removePublished(id: string): Promise<void> {
    const path = this.#known(id)?.original?.path;
    if (this.#users === 0 && path !== undefined) await this.#own.remove(path);
  }

  /** Leaves nothing behind but what the agent has stored beside published sessions. */
  async #finish(): Promise<void> {
    for (const path of this.#record.copies) await this.#own.remove(path);
    this.#record.copies = [];
    this.#record.owner = "";
    await this.#save();
    if (
      this.#users === 0 &&
      this.#record.problems.length === 0 &&
      !(await hasFiles(join(this.#folder, "files")))
    )
      await this.#remove();
  }

  #remove(): Promise<void> {
    return removeFolder(this.#folder);
  }

  /** Copies a session from the agent's own folder, where other threads publish theirs first. */
  async #copyIn(id: string): Promise<OwnSession> {
    const found = (await this.#isAnothers(id)) ? await this.#publishedBy(id) : await this.#originals.read(id);
    if (found === undefined) return {};
    // One that the agent has put here itself is not what is resumed.
    for (const path of await this.#own.find(id)) await this.#own.remove(path);
    await this.#own.write(found.path, found.content);
    return { original: { path: found.path, identity: found.identity, known: found.content.length } };
  }

  /**
   * Has the thread that began a session publish it. Agents write theirs a moment after their turn has ended, so it is taken
   * once nothing has come for a moment.
   */
  async #publishedBy(id: string): Promise<SessionFile | undefined> {
    let before: SessionFile | undefined;
    for (let tries = 0; ; tries += 1) {
      await ThreadSessions.publish(this.#options, id);
      const found = await this.#originals.read(id);
      const isComplete = found !== undefined && found.identity === before?.identity;
      if (isComplete || tries === MAX_TRIES) return found;
      before = found;
      await setTimeout(WRITTEN_MS);
    }
  }

  async #isAnothers(id: string): Promise<boolean> {
    const digest = await folderDigest(this.#options.folder);
    const { root, threadId } = this.#options;
    const others = (await namesIn(root)).filter((name) => name !== threadId);
    const records = await Promise.all(others.map((name) => loadRecord(join(root, name, digest))));
    return records.some((record) => record !== undefined && Object.hasOwn(record.sessions, id));
  }

  #known(id: string): OwnSession | undefined {
    return Object.hasOwn(this.#record.sessions, id) ? this.#record.sessions[id] : undefined;
  }

  #save(): Promise<void> {
    return saveRecord(this.#folder, this.#record);
  }
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  // Expected: the thread has had another agent, too.
  await rmdir(dirname(folder)).catch(() => undefined);
}

function unpublished(id: string, folder: string, reason: string): string {
  return `The session ${id} was not stored where the agent finds it outside of Flint: ${reason}. It is kept in ${folder}, and this thread goes on with it.`;
}

/** Publishes what a killed server has left, and removes what was left long ago. Never rejects. */
async function publishAbandoned(options: ThreadSessionsOptions, digest: string): Promise<void> {
  const { root, threadId } = options;
  for (const name of await namesIn(root)) {
    const folder = join(root, name, digest);
    const record = name === threadId || OPEN.has(folder) ? undefined : await loadRecord(folder);
    if (record === undefined || (await isInUse(record))) continue;
    const about = await stat(join(folder, "record.json")).catch(() => undefined);
    if (about !== undefined && Date.now() - about.mtimeMs > KEPT_MS)
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    else if (record.owner !== "" && record.owner !== (await processOwner()))
      for (const id of Object.keys(record.sessions)) await ThreadSessions.publish(options, id);
  }
}

/** Reports whether there is anything below a folder but folders and locks, which are empty files. */
async function hasFiles(folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (await hasContent(join(folder, entry.name), entry.isDirectory())) return true;
  return false;
}

async function hasContent(path: string, isFolder: boolean): Promise<boolean> {
  if (isFolder) return hasFiles(path);
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && found.size > 0;
}

/** Expected: no thread has had an agent in a sandbox yet. */
function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Two instances of an agent with different folders have different sessions. */
async function folderDigest(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => folder);
  return createHash("sha256").update(real).digest("hex").slice(0, 16);
}

/** The id becomes a part of paths. */
function threadName(threadId: string): string {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(threadId)) throw new Error(`"${threadId}" cannot name a folder.`);
  return threadId;
}
