import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UserConfig } from "@flint/server/config";
import { homeFolder, stateFolder, userConfigPath } from "@flint/server/environment";
import type { ConfigKey, Machine, MachineAgent } from "@flint/tui";
import { branchOf, readText } from "./branch.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Interval at which an installation reports for how long it has been running. */
const PROGRESS_MS = 1_000;

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

  async agents(): Promise<readonly MachineAgent[]> {
    const { agentRows, stateOf } = await import("../agents/programs.ts");
    const [rows, changes] = await Promise.all([agentRows(), this.agentChanges()]);
    return rows.map((row) => {
      const known = changes.find(({ id }) => id === row.agent)?.change;
      const isOfOther = row.path !== undefined && !row.installedByFlint;
      const { agent: id, name, loggedIn, path, install } = row;
      const change = isOfOther && known === "install" ? undefined : known;
      return { id, name, version: stateOf(row), loggedIn, path, install, change };
    });
  }

  async agentChanges() {
    const { installableAgents } = await import("../agents/programs.ts");
    return (await installableAgents()).map(({ id, name, isInstalled }) => {
      const change: "install" | "remove" = isInstalled ? "remove" : "install";
      return { id, name, change };
    });
  }

  async installAgent(name: string, progress: (doing: string) => void): Promise<string> {
    const { installNamed } = await import("../agents/programs.ts");
    let stop = (): void => {};
    const started = Date.now();
    try {
      return await installNamed(name, (doing) => {
        const show = () => progress(`${doing} ${Math.round((Date.now() - started) / 1000)}s`);
        const timer = setInterval(show, PROGRESS_MS);
        stop = () => clearInterval(timer);
        progress(doing);
      });
    } finally {
      stop();
    }
  }

  async removeAgent(name: string): Promise<string> {
    const { notInstalledHere, removeNamed } = await import("../agents/programs.ts");
    const removed = await removeNamed(name);
    return removed.isRemoved ? `Removed ${removed.name}.` : notInstalledHere(removed.name);
  }

  async doctor(): Promise<string> {
    const { doctorReport } = await import("../doctor/doctor.ts");
    return doctorReport();
  }

  #note(name: string): string {
    return join(this.notesFolder, encodeURIComponent(name));
  }
}
