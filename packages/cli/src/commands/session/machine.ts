import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { homeFolder, stateFolder } from "@flint/server/environment";
import type { Machine } from "@flint/tui";

type Environment = Readonly<Record<string, string | undefined>>;

/** This machine, as a session uses it. */
export class LocalMachine implements Machine {
  readonly cwd: string;
  readonly home = homeFolder();
  readonly #environment: Environment;

  constructor(cwd: string, environment: Environment) {
    this.cwd = cwd;
    this.#environment = environment;
  }

  branchOf(folder: string): string | undefined {
    const head = gitHead(folder);
    const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(head ?? "") ?? [];
    return branch ?? head?.slice(0, 7);
  }

  readNote(name: string): string | undefined {
    return readText(this.#note(name));
  }

  writeNote(name: string, text: string): void {
    const path = this.#note(name);
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.${process.pid}`, text, { mode: 0o600 });
      renameSync(`${path}.${process.pid}`, path);
    } catch {
      // A draft that cannot be kept is not worth an interruption.
    }
  }

  async writeFile(path: string, text: string): Promise<void> {
    await writeFile(resolve(this.cwd, path), text, { flag: "wx" });
  }

  get notesFolder(): string {
    return join(stateFolder(), "terminal");
  }

  get editor(): string | undefined {
    return this.#environment.VISUAL || this.#environment.EDITOR || undefined;
  }

  async doctor(): Promise<string> {
    const { doctorReport } = await import("../doctor/doctor.ts");
    return doctorReport();
  }

  #note(name: string): string {
    return join(this.notesFolder, encodeURIComponent(name));
  }
}

/** The content of `HEAD` of the repository that a folder belongs to. */
function gitHead(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const git = join(at, ".git");
    // In a worktree it is a file that names the folder.
    const [, elsewhere] = /^gitdir: (.+)$/m.exec(readText(git) ?? "") ?? [];
    const head = readText(join(elsewhere === undefined ? git : resolve(at, elsewhere), "HEAD"));
    if (head !== undefined || at === dirname(at)) return head?.trim();
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Absent, a folder, or not readable.
    return undefined;
  }
}
