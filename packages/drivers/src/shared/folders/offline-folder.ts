import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder for an agent's state while it uses the offline model, separate from the user's own sessions. */
export class OfflineFolder {
  readonly #stateFolder: string | undefined;
  readonly #name: string;
  #path: Promise<string> | undefined;

  /** Without a state folder it is a temporary one, which `remove` removes. */
  constructor(stateFolder: string | undefined, name: string) {
    this.#stateFolder = stateFolder;
    this.#name = name;
  }

  /** Its path; the folder is created by the first call. */
  path(): Promise<string> {
    this.#path ??= this.#create();
    return this.#path;
  }

  /** Removes a temporary folder. */
  async remove(): Promise<void> {
    if (this.#stateFolder !== undefined) return;
    const path = await this.#path?.catch(() => undefined);
    if (path !== undefined) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }

  async #create(): Promise<string> {
    if (this.#stateFolder === undefined) return mkdtemp(join(tmpdir(), `flint-${this.#name}-`));
    const path = join(this.#stateFolder, this.#name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }
}
