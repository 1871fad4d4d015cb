import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Where Codex keeps what it needs from one step to the next. Its settings, rules, skills, plugins and prompts are beside
 * these and are not among them: whoever may write those decides what runs later, outside of any sandbox. That is also
 * why a confined Codex goes without snapshots of shells and without plugins, which it would keep here.
 */
const STATE_FOLDERS = [
  ...["sessions", "archived_sessions", "thread-writer-locks"],
  ...["generated_images", "attachments", "log", "tmp"],
];

/** Codex does not start where it cannot write its own name, and it cannot make the file where it is confined. */
const NAME_FILE = "installation_id";

/** Where Codex keeps its login, which it renews from time to time, and the list of its models. */
const STATE_FILES = [NAME_FILE, "auth.json", "models_cache.json"];

/** Codex's indexes need a folder that can be written as a whole, which its home is not. */
const INDEX_FOLDER = "flint-index";

/** Where a process of Codex keeps its things. */
export interface CodexHome {
  /** Variables that tell it so. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it has to be able to write whatever its policy says. */
  readonly ownPaths: readonly string[];
}

/** The home of a Codex that is confined as a whole; the folders that it writes are made if need be. */
export async function confinedHome(environment: Readonly<Record<string, string>>): Promise<CodexHome> {
  const home = environment.CODEX_HOME || join(environment.HOME ?? homedir(), ".codex");
  const index = join(home, INDEX_FOLDER);
  const folders = [index, ...STATE_FOLDERS.map((name) => join(home, name))];
  await Promise.all(folders.map((path) => mkdir(path, { recursive: true, mode: 0o700 })));
  // Expected: a Codex that has been used before has a name already.
  await writeFile(join(home, NAME_FILE), randomUUID(), { flag: "wx", mode: 0o600 }).catch(() => undefined);
  const files = STATE_FILES.map((name) => join(home, name));
  return { environment: { CODEX_SQLITE_HOME: index }, ownPaths: [...folders, ...files] };
}
