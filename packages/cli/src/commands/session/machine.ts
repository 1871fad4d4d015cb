import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UserConfig } from "@flint/server/config";
import { homeFolder, stateFolder, userConfigPath } from "@flint/server/environment";
import type { ConfigKey, Machine } from "@flint/tui";
import { branchOf, readText } from "./branch.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** This machine, as a session uses it. */
export class LocalMachine implements Machine {
  readonly cwd: string;
  readonly home = homeFolder();
  readonly host = hostname();
  readonly #environment: Environment;

  constructor(cwd: string, environment: Environment) {
    this.cwd = cwd;
    this.#environment = environment;
  }

  branchOf(folder: string): string | undefined {
    return branchOf(folder);
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

  async searchPath(folder: string): Promise<string> {
    const { outsideSearchPath } = await import("@flint/server/config");
    return outsideSearchPath([this.cwd, folder]);
  }

  async findProgram(name: string): Promise<string | undefined> {
    const { outsideProgram } = await import("@flint/server/config");
    return (await outsideProgram(name, this.cwd)).path;
  }

  async openImage(source: string): Promise<string> {
    const { openImage } = await import("./open-file.ts");
    return openImage(source, { cwd: this.cwd, folder: this.notesFolder });
  }

  async setConfig(key: string, value: unknown): Promise<void> {
    await new UserConfig(userConfigPath()).set([key], value);
  }

  async configuration(): Promise<readonly ConfigKey[]> {
    const { configKeys } = await import("../config.ts");
    return configKeys(this.cwd);
  }

  async changeConfig(key: string, typed: string | undefined): Promise<string> {
    const { changeConfig } = await import("../config.ts");
    return changeConfig(key, typed);
  }

  async doctor(): Promise<string> {
    const { doctorReport } = await import("../doctor/doctor.ts");
    return doctorReport();
  }

  #note(name: string): string {
    return join(this.notesFolder, encodeURIComponent(name));
  }
}
