import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { foundProgram } from "./agent-program.ts";
import { atTestEnd, temporaryFolder } from "./temp.ts";

/** The Redis server that the set-up of the tests found; undefined if there is none. */
export function redisProgram(): string | undefined {
  return foundProgram("redis");
}

/** Options for starting a test's Redis. */
export interface RedisServerOptions {
  /** More arguments, such as `--requirepass x`. */
  readonly args?: readonly string[];
  /** The folder of its socket and its data; one of its own if absent. */
  readonly folder?: string;
}

const START_MS = 20_000;
const POLL_MS = 10;

/** A Redis of a test's own, on a unix socket, with an append-only file that survives its end. */
export class RedisServer {
  readonly url: string;
  readonly #folder: string;
  readonly #socket: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(folder: string, args: readonly string[]) {
    this.#folder = folder;
    this.#args = args;
    this.#socket = join(folder, "redis.sock");
    this.url = `unix:${this.#socket}`;
  }

  /** Starts one; it ends with the test. Outside of a test, call `kill` yourself. */
  static async start({ args = [], folder }: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(folder ?? (await temporaryFolder()).path, args);
    await mkdir(server.#folder, { recursive: true });
    atTestEnd(
      () => server.kill(),
      () => void server.#process?.kill("SIGKILL"),
    );
    await server.start();
    return server;
  }

  /** Starts it, or starts it again with its data. Resolves once it accepts connections and has read them. */
  async start(): Promise<void> {
    const options = [
      ...["--port", "0", "--unixsocket", this.#socket, "--dir", this.#folder, "--appendonly", "yes"],
      ...["--save", "", "--daemonize", "no", "--enable-debug-command", "yes", ...this.#args],
    ];
    const child = spawn(redisProgram() ?? "redis-server", options, { stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => output.push(text));
    const deadline = Date.now() + START_MS;
    while (!(await this.#accepts())) {
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`Redis did not start: ${output.join("").slice(-2000)}`);
      // Nothing tells that a server of another program has started to listen.
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await ended;
  }

  /** Stops it without ending it, as a machine that hangs, until `resume`. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Reports whether it answers and is not still reading its data. */
  #accepts(): Promise<boolean> {
    if (!existsSync(this.#socket)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const socket = createConnection(this.#socket);
      socket.on("error", () => resolve(false));
      socket.on("connect", () => socket.write("PING\r\n"));
      socket.on("data", (data) => {
        socket.destroy();
        resolve(!data.toString().startsWith("-LOADING"));
      });
    });
  }
}
