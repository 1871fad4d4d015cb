import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder, leavesNoProcess } from "@flint/testkit";
import { onTestFinished, vi } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import type { Ran } from "./flint.ts";
import { FLINT } from "./server.ts";
import { Terminal } from "./terminal/tmux.ts";

const run = promisify(execFile);
const STARTS_WITHIN_MS = 60_000;

/** A process of Flint that continues until it is ended. */
export class FlintProcess {
  readonly #child: ChildProcess;
  readonly exited: Promise<number | null>;
  errors = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.on("data", (bytes) => {
      this.errors += bytes;
    });
    this.exited = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  }

  /** Resolves once it has printed this. Fails if it ends before. */
  async printed(text: string): Promise<void> {
    const isOver = () => this.#child.exitCode !== null || this.#child.signalCode !== null;
    await vi.waitUntil(() => this.errors.includes(text) || isOver(), { timeout: STARTS_WITHIN_MS });
    if (!this.errors.includes(text)) throw new Error(`It ended: ${this.errors}`);
  }

  /** Sends a signal and waits for the end; the exit code, or null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.exited;
  }
}

/** One user of a fleet on this machine: a state folder and a configuration of its own. */
export class FleetUser {
  readonly #place: FleetFixture;
  readonly #env: Readonly<Record<string, string>>;

  constructor(place: FleetFixture, env: Readonly<Record<string, string>>) {
    this.#place = place;
    this.#env = env;
  }

  /** Runs a command to its end, in a process of its own. */
  flint(...args: string[]): Promise<Ran> {
    return new Promise((resolve) => {
      const options = { cwd: this.#place.repo, env: this.#env };
      const child = execFile(process.execPath, [FLINT, ...args], options, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  /** Starts a server or a worker, whose offline model plays a script; it ends with the test. */
  async start(args: readonly string[], script: readonly string[] = []): Promise<FlintProcess> {
    const file = join(this.#place.folder, `script-${Date.now()}.jsonl`);
    await writeFile(file, script.join("\n"));
    const env = { ...this.#env, ...(script.length === 0 ? {} : { FLINT_OFFLINE_SCRIPT: file }) };
    const options = { cwd: this.#place.repo, env, stdio: ["ignore", "ignore", "pipe"] as const };
    const started = new FlintProcess(
      spawn(process.execPath, [FLINT, ...args], { ...options, stdio: [...options.stdio] }),
    );
    onTestFinished(async () => void (await started.end("SIGKILL")));
    return started;
  }

  /** Starts a server that adds and answers tasks. */
  async serve(): Promise<FlintProcess> {
    const server = await this.start(["serve", "--listen", "local"]);
    await server.printed("serving");
    return server;
  }

  /** Starts a worker that trusts these keys. */
  async work(name: string, keys: readonly string[], script: readonly string[]): Promise<FlintProcess> {
    const trust = keys.flatMap((key) => ["--trust", key]);
    const folders = ["--folder", this.#place.folder, "--drain", "5"];
    const worker = await this.start(["worker", "--name", name, ...trust, ...folders, "--offline"], script);
    await worker.printed(`worker ${name} takes tasks`);
    return worker;
  }

  terminal(...args: string[]): Promise<Terminal> {
    const { repo: cwd, folder } = this.#place;
    return Terminal.start({ command: [process.execPath, FLINT, ...args], cwd, env: this.#env, folder });
  }
}

/** A repository with one commit, and the users of a fleet who work on it. */
export class FleetFixture {
  readonly folder: string;
  readonly repo: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.repo = join(folder, "repo");
  }

  static async make(): Promise<FleetFixture> {
    const { path } = await agentFolder();
    leavesNoProcess(15_000);
    const place = new FleetFixture(path);
    await mkdir(place.repo);
    await place.git("init", "-q", "-b", "main");
    await writeFile(join(place.repo, "a.txt"), "one\n");
    await place.git("add", ".");
    await place.git("commit", "-q", "-m", "first");
    return place;
  }

  async git(...args: string[]): Promise<string> {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    return (await run("git", [...who, ...args], { cwd: this.repo })).stdout.trim();
  }

  /** A user with a state folder of this name, whose tasks are in this Redis; more variables may be set. */
  async user(
    name: string,
    redis: string,
    configuration = "",
    more: Readonly<Record<string, string>> = {},
  ): Promise<FleetUser> {
    const [state, home] = [join(this.folder, name), join(this.folder, `${name}-home`)];
    await Promise.all([mkdir(state), mkdir(home)]);
    const tasks = `[tasks]\nredis = ${JSON.stringify(redis)}\nask_timeout = 0.2\n`;
    await writeFile(join(state, "config.toml"), `${tasks}${configuration}`);
    const given = { ...process.env, ...plainEnvironment(state), HOME: home, LANG: "C.UTF-8", ...more };
    const defined = Object.entries(given).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const user = new FleetUser(this, Object.fromEntries(defined));
    // A command may have started a server in the background.
    onTestFinished(async () => void (await user.flint("server", "stop")));
    return user;
  }
}
