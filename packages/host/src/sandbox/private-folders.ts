import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Clock, PrivateFolder } from "@flint/core/ports";
import { mayStillRun, processOwner } from "../files/process-owner.ts";
import { FileCopies } from "./file-copies.ts";
import type { StagedFolder } from "./mechanisms/private-mounts.ts";

/** The private folders of one program, until they are released. */
export interface PrivateFoldersLease {
  readonly privateFolders: readonly StagedFolder[];
  readonly privateSources?: string | undefined;
  /** Takes over the last accepted changes, and removes everything else. Never rejects. */
  release(): Promise<void>;
}

const PREFIX = "flint-agent-";

/** Contents shown for missing read-only names, by kind. */
const PLACEHOLDERS = { folder: undefined, "empty.json": "{}\n", "empty.txt": "" } as const;

/** Makes the private folders of programs: on disk, because files in them are compared with their originals. */
export class PrivateFolders {
  readonly #parent: string | undefined;
  readonly #clock: Clock;
  #swept: Promise<void> | undefined;

  /** Without a folder of Flint's they are among the temporary files. */
  constructor(parent: string | undefined, clock: Clock) {
    this.#parent = parent;
    this.#clock = clock;
  }

  /** Makes those that need more than an empty folder in memory. */
  async acquire(folders: readonly PrivateFolder[] = []): Promise<PrivateFoldersLease> {
    const needsDisk = ({ readOnly, copies, replaced }: PrivateFolder) =>
      [readOnly, copies, replaced].some((names) => names !== undefined);
    if (!folders.some(needsDisk)) return { privateFolders: folders, release: async () => undefined };
    const root = await this.#create();
    const copies: FileCopies[] = [];
    const release = async () => {
      for (const each of copies) await each.stop();
      await removeTree(root);
    };
    // If anything fails, nothing is left behind.
    try {
      const placeholder = await createPlaceholders(join(root, "placeholders"));
      const stage = async (folder: PrivateFolder, at: number): Promise<StagedFolder> => {
        if (!needsDisk(folder)) return folder;
        const source = join(root, String(at));
        await mkdir(source, { mode: 0o700 });
        for (const { name } of folder.replaced ?? []) await mkdir(join(source, name), { mode: 0o700 });
        const files = (folder.copies ?? []).map(({ name, original = join(folder.path, name), accepts }) => {
          return { original, copy: join(source, name), ...(accepts && { accepts }) };
        });
        copies.push(await FileCopies.start(files, this.#clock));
        return { ...folder, source, placeholder };
      };
      return { privateFolders: await Promise.all(folders.map(stage)), privateSources: root, release };
    } catch (thrown) {
      await release();
      throw thrown;
    }
  }

  async #create(): Promise<string> {
    const parent = this.#parent ?? tmpdir();
    await mkdir(parent, { recursive: true, mode: 0o700 });
    this.#swept ??= removeAbandoned(parent);
    await this.#swept;
    return mkdtemp(join(parent, `${PREFIX}${await processOwner()}-`));
  }
}

async function createPlaceholders(folder: string): Promise<(name: string) => string> {
  await mkdir(folder, { mode: 0o700 });
  for (const [name, content] of Object.entries(PLACEHOLDERS)) {
    const path = join(folder, name);
    await (content === undefined ? mkdir(path, { mode: 0o500 }) : writeFile(path, content, { mode: 0o400 }));
  }
  return (name) => join(folder, placeholderFor(name));
}

function placeholderFor(name: string): keyof typeof PLACEHOLDERS {
  if (name.endsWith("/")) return "folder";
  return /\.jsonc?$/.test(name) ? "empty.json" : "empty.txt";
}

/** Removes what servers have left that were killed: logins are among it. */
async function removeAbandoned(parent: string): Promise<void> {
  const remove = async (name: string) => {
    const owner = /^\d*-\d+(?=-)/.exec(name.slice(PREFIX.length))?.[0];
    if (owner !== undefined && !(await mayStillRun(owner))) await removeTree(join(parent, basename(name)));
  };
  await Promise.all((await readdir(parent)).filter((name) => name.startsWith(PREFIX)).map(remove));
}

/** Also where a program has made folders that cannot be listed. Never rejects. */
async function removeTree(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 2 });
  await remove().catch(async () => {
    await openFolders(path);
    await remove().catch(() => undefined);
  });
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await openFolders(join(folder, entry.name));
}
