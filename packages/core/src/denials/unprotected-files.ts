import type { ThreadSettings } from "@flint/protocol";
import type { DriverEvent, Sandbox } from "../ports/index.ts";

/** Dependencies for finding the unprotected files that a turn made. */
export interface UnprotectedFilesOptions {
  settings(): ThreadSettings;
  /** Absent: nothing can be said. */
  readonly list?: Sandbox["unprotectedFiles"];
  emit(event: DriverEvent): void;
}

/**
 * Warns at the end of a turn about files that appeared during it and name programs to run, where the sandbox cannot keep
 * a command from creating them.
 */
export class UnprotectedFiles {
  readonly #options: UnprotectedFilesOptions;
  #before: ReadonlySet<string> | undefined;

  constructor(options: UnprotectedFilesOptions) {
    this.#options = options;
  }

  /** To be called before the agent starts; undefined if there is nothing to wait for. */
  begin(): Promise<void> | undefined {
    const { list } = this.#options;
    const roots = this.#roots();
    if (list === undefined || roots.length === 0) return undefined;
    return list(roots).then((paths) => {
      this.#before = new Set(paths);
    });
  }

  /** To be called when the agent has ended. */
  async end(): Promise<void> {
    const before = this.#before;
    const { list, emit } = this.#options;
    if (before === undefined || list === undefined) return;
    const made = (await list(this.#roots())).filter((path) => !before.has(path));
    if (made.length === 0) return;
    const message = `This turn created ${made.join(", ")}. Programs that you start outside the sandbox run what such a file names: read it before you use them here.`;
    emit({ type: "warning", message, reason: "configuration" });
  }

  #roots(): readonly string[] {
    const { cwd, sandboxPolicy } = this.#options.settings();
    return sandboxPolicy.type === "workspaceWrite" ? [cwd, ...(sandboxPolicy.writableRoots ?? [])] : [];
  }
}
