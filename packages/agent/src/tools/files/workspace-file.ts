import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { asFileAccessError, FileAccessError } from "@flint/host/files";
import { pathWithin } from "@flint/host/globs";
import type { ThreadSettings } from "@flint/protocol";
import type { ToolContext } from "../tool.ts";
import { ClientText } from "./client-text.ts";
import { OpenFolder, removeFolders } from "./open-folder.ts";
import { type OutsideFolder, outsideFolder } from "./outside-folder.ts";
import { rejectProtected } from "./protected-names.ts";
import { decode } from "./text-format.ts";

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Both contents of a change go over the wire in one line, so their size is limited. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The mode of a file that only the client has so far. */
const NEW_FILE_MODE = 0o644;

type FileContext = Pick<ToolContext, "turn" | "signal" | "sandbox">;

/** The access path to a file. */
interface FilePlace {
  /** The client that has the text of the file. */
  readonly client: ClientText | undefined;
  readonly outside: OutsideFolder | undefined;
}

/** The text and mode of a file. */
export interface FileContent {
  readonly text: string;
  readonly mode: number;
}

/** One file inside the writable folders, or in one that the user has to allow, with every link on its path resolved. */
export class WorkspaceFile {
  readonly path: string;
  /** Relative to the writable root that it is in; the whole path if it is outside of them. */
  readonly relativePath: string;
  /** The folder that has to be allowed before the file may be changed. */
  readonly outside: OutsideFolder | undefined;
  readonly #root: string;
  readonly #inside: string;
  readonly #client: ClientText | undefined;
  #createdFolders: readonly string[] = [];

  private constructor(root: string, inside: string, { client, outside }: FilePlace) {
    this.path = join(root, inside);
    this.relativePath = outside === undefined ? inside : this.path;
    this.outside = outside;
    this.#root = root;
    this.#inside = inside;
    this.#client = client;
  }

  /** Finds the file of a path. Throws a FileAccessError if it is outside of the writable folders or protected. */
  static async locate(path: string, context: FileContext): Promise<WorkspaceFile> {
    const { turn, signal } = context;
    const { settings } = turn;
    const clientFiles = turn.clientFiles?.();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: such names could forge lines of a diff
    if (path === "" || /[\u0000-\u001f\u007f]/.test(path))
      throw new FileAccessError("That is not a valid file name.");
    const roots = writableRoots(settings);
    const named = resolve(settings.cwd, path);
    const real = await resolvePath(named);
    const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
    for (const root of realRoots) {
      const inside = pathWithin(root, real);
      if (inside === undefined || inside === "") continue;
      rejectProtected(inside);
      const client = clientFiles && new ClientText(clientFiles, join(root, inside), signal);
      return new WorkspaceFile(root, inside, { client, outside: undefined });
    }
    // A path in the workspace that leads out of it is not what the user would expect.
    const isNamedInside = [...roots, ...realRoots].some((root) => pathWithin(root, named) !== undefined);
    const outside = isNamedInside ? undefined : await outsideFolder(real, context);
    const inside = outside && pathWithin(outside.path, real);
    if (outside !== undefined && inside !== undefined) {
      rejectProtected(inside);
      return new WorkspaceFile(outside.path, inside, { client: undefined, outside });
    }
    throw new FileAccessError(`${path} is outside of the writable folders (${roots.join(", ")}).`);
  }

  /** Reads its content; undefined if it does not exist. Throws a FileAccessError for anything but a text file. */
  async read(): Promise<FileContent | undefined> {
    const saved = await this.#readSaved();
    const text = await this.#client?.read();
    if (text === undefined) return saved;
    // Some clients have an empty text for a file that does not exist.
    if (saved === undefined && text === "") return undefined;
    if (text.length > MAX_BYTES) throw this.#tooLarge();
    return { text, mode: saved?.mode ?? NEW_FILE_MODE };
  }

  async #readSaved(): Promise<FileContent | undefined> {
    return this.#inFolder({ create: false }, async (folder) => {
      const found = await lstat(folder.pathTo(this.#name)).catch(() => undefined);
      if (found === undefined) return undefined;
      if (!found.isFile()) throw new FileAccessError(`${this.relativePath} is not a plain file.`);
      if (found.size > MAX_BYTES) throw this.#tooLarge();
      const file = await open(folder.pathTo(this.#name), READ);
      return closing(file, async () => {
        const { mode } = await this.#rejectOther(file);
        return { text: decode(await file.readFile(), this.relativePath), mode: mode & 0o777 };
      });
    });
  }

  /** Creates the file. Throws if it exists. */
  async create(text: string, mode?: number): Promise<void> {
    await this.#inFolder({ create: true }, async (folder) => {
      const flags = WRITE | constants.O_CREAT | constants.O_EXCL;
      const file = await open(folder.pathTo(this.#name), flags, 0o600);
      // Expected: a full disk, or a client that refuses. An incomplete file is removed.
      try {
        await closing(file, async () => {
          if (this.#client === undefined) await writeAll(file, Buffer.from(text));
          await file.chmod(mode ?? (await folder.fileMode()));
        });
        await this.#client?.write(text);
      } catch (error) {
        await unlink(folder.pathTo(this.#name));
        await removeFolders(folder.createdFolders);
        throw error;
      }
      this.#createdFolders = folder.createdFolders;
    });
  }

  /** Undoes `create`, if the text is still the same: removes the file and the folders that were created for it. */
  async undoCreate(text: string): Promise<void> {
    await this.remove(text);
    await removeFolders(this.#createdFolders);
  }

  /** Replaces its text in place, if that is still `before`. */
  async replace(before: string, after: string): Promise<void> {
    const replaced = await this.#inFolder({ create: false }, async (folder) => {
      const file = await open(folder.pathTo(this.#name), WRITE);
      await closing(file, async () => {
        if (this.#client !== undefined) {
          await this.#rejectOther(file);
          const now = (await this.#client.read()) ?? decode(await file.readFile(), this.relativePath);
          if (now !== before) throw this.#changed();
          await this.#client.write(after);
          return;
        }
        await this.#rejectChanged(file, before);
        // Expected: a full disk. The old text is restored.
        try {
          await overwrite(file, after);
        } catch (error) {
          await overwrite(file, before);
          throw error;
        }
      });
      return true;
    });
    if (replaced === undefined) throw this.#gone();
  }

  /** Deletes it, if its text is still `before`. */
  async remove(before: string): Promise<void> {
    const removed = await this.#inFolder({ create: false }, async (folder) => {
      const file = await open(folder.pathTo(this.#name), READ);
      await closing(file, () => this.#rejectChanged(file, before));
      await unlink(folder.pathTo(this.#name));
      return true;
    });
    if (removed === undefined) throw this.#gone();
  }

  get #name(): string {
    return basename(this.path);
  }

  #gone(): FileAccessError {
    return new FileAccessError(`The folder of ${this.relativePath} no longer exists.`);
  }

  /** Undefined if the folder does not exist and should not be created. */
  async #inFolder<Result>(
    options: { readonly create: boolean },
    work: (folder: OpenFolder) => Promise<Result>,
  ): Promise<Result | undefined> {
    const names = this.#inside.split("/").slice(0, -1);
    // Expected: a folder without permission, a full disk. The error must name the real path, not that of the open folder.
    try {
      const { identity } = this.outside ?? {};
      const folder = await OpenFolder.open(this.#root, names, { ...options, identity });
      if (folder === undefined) return undefined;
      return await work(folder).finally(() => folder.close());
    } catch (thrown) {
      throw asFileAccessError(this.path, thrown) ?? thrown;
    }
  }

  /** Checks what was opened before anything of it is used. */
  async #rejectOther(file: FileHandle): Promise<{ readonly mode: number }> {
    const found = await file.stat();
    if (!found.isFile()) throw new FileAccessError(`${this.relativePath} is not a plain file.`);
    if (found.nlink !== 1) {
      throw new FileAccessError(`${this.relativePath} has other hard links, so it is not changed.`);
    }
    return found;
  }

  async #rejectChanged(file: FileHandle, before: string): Promise<void> {
    await this.#rejectOther(file);
    if (decode(await file.readFile(), this.relativePath) !== before) throw this.#changed();
  }

  #changed(): FileAccessError {
    return new FileAccessError(
      `${this.relativePath} was changed by another program in the meantime. Read it again.`,
    );
  }

  #tooLarge(): FileAccessError {
    return new FileAccessError(`${this.relativePath} is too large to be changed.`);
  }
}

/** The folders that the sandbox policy lets be written. A wider sandbox widens commands, not these tools. */
function writableRoots({ cwd, sandboxPolicy }: ThreadSettings): readonly string[] {
  switch (sandboxPolicy.type) {
    case "readOnly":
      throw new FileAccessError("The sandbox is read-only, so no file can be changed.");
    case "workspaceWrite":
      return [cwd, ...(sandboxPolicy.writableRoots ?? [])];
    case "dangerFullAccess":
    case "externalSandbox":
      return [cwd];
  }
}

async function closing<Result>(file: FileHandle, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    await file.close();
  }
}

async function overwrite(file: FileHandle, text: string): Promise<void> {
  await file.truncate(0);
  await writeAll(file, Buffer.from(text));
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, at);
    at += bytesWritten;
  }
}

/** Resolves the links of a path as far as it exists. */
async function resolvePath(path: string): Promise<string> {
  const found = await lstat(path).catch(() => undefined);
  const parent = dirname(path);
  if (found !== undefined && (!found.isSymbolicLink() || parent === path)) return realpath(path);
  if (found !== undefined) throw new FileAccessError(`${path} is a link.`);
  return parent === path ? path : join(await realParent(parent), basename(path));
}

function realParent(parent: string): Promise<string> {
  return realpath(parent).catch(() => resolvePath(parent));
}
