import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { FakeTerminal } from "@flint/tui/testing";
import { onTestFinished } from "vitest";
import { FLINT } from "../server.ts";

/** Options of a terminal. */
export interface PtyOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of an earlier command, to continue with its workspace and its state. */
  readonly folder?: string;
  /** The part after the command, such as a pipe. */
  readonly shell?: (command: string) => string;
}

const GUARD_MS = 20_000;

/** The `flint` command on a terminal of its own, which `script` of util-linux makes. */
export class Pty {
  readonly workspace: string;
  readonly columns: number;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #output = "";
  #from = 0;
  #onOutput: () => void = () => {};

  private constructor(child: ChildProcess, workspace: string, columns: number) {
    this.#child = child;
    this.workspace = workspace;
    this.columns = columns;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
      this.#onOutput();
    });
    this.#exited = new Promise((resolve) => {
      child.on("close", (code) => {
        resolve(code);
        this.#onOutput();
      });
    });
  }

  /** The process that made the terminal. */
  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** The folder with the workspace and the state of the command. */
  get folder(): string {
    return dirname(this.workspace);
  }

  /** The state folder of the command. */
  get home(): string {
    return join(this.folder, "home");
  }

  /** Starts `flint` with these arguments in a small workspace. */
  static async start(args: readonly string[], options: PtyOptions = {}): Promise<Pty> {
    const folder = options.folder ?? (await temporaryFolder()).path;
    const workspace = join(folder, "workspace");
    await mkdir(workspace, { recursive: true });
    await writeFile(`${workspace}/notes.txt`, "one\n");
    const { columns = 80, shell = (command: string) => command, env = {} } = options;
    const flint = [process.execPath, FLINT, ...args].map(quoted).join(" ");
    const command = `stty cols ${columns} rows 24; ${shell(flint)}`;
    const child = spawn("script", ["-qefc", command, "/dev/null"], {
      cwd: workspace,
      env: {
        PATH: process.env.PATH,
        SHELL: "/bin/bash",
        HOME: folder,
        FLINT_HOME: join(folder, "home"),
        TERM: "xterm-256color",
        LANG: "C.UTF-8",
        ...env,
      },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return new Pty(child, workspace, columns);
  }

  /** Everything that was written to the terminal so far. */
  get output(): string {
    return this.#output;
  }

  /** The present content of the terminal. */
  get screen(): FakeTerminal {
    const terminal = new FakeTerminal(this.columns);
    terminal.write(this.#output.replaceAll("\r\n", "\n"));
    return terminal;
  }

  /** Presses keys. */
  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Closes the terminal under the command. */
  hangUp(): void {
    this.#child.kill("SIGKILL");
  }

  /** Resolves once this text was written, after what was waited for before. */
  async waitFor(text: string): Promise<void> {
    const found = () => this.#output.indexOf(text, this.#from);
    const deadline = Date.now() + GUARD_MS;
    while (found() === -1) {
      if (this.#child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`${JSON.stringify(text)} was not shown, but:\n${this.#output.slice(this.#from)}`);
      }
      await this.#moreOutput(deadline - Date.now());
    }
    this.#from = found() + text.length;
  }

  /** The exit code of the command. */
  async exitCode(): Promise<number | null> {
    return this.#exited;
  }

  /** Resolves with the next output, or when the time is over. */
  #moreOutput(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onOutput = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
