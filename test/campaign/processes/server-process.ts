import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { AddingServerOptions } from "./worker-order.ts";
import { endWithThisProcess } from "./worker-process.ts";

/** A server that adds tasks and schedules, in a process of its own. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #answers = new Map<string, (rest: string) => void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, "exit");
    // Expected: it was killed while it was asked something.
    child.stdin?.on("error", () => undefined);
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).on("line", (line) => {
        const [name = "", rest = ""] = line.split(" ");
        this.#answers.get(name)?.(rest);
        this.#answers.delete(name);
      });
  }

  /** Starts the program that was built; resolves once it adds tasks. */
  static async start(program: string, order: AddingServerOptions): Promise<ServerProcess> {
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    endWithThisProcess(child);
    const server = new ServerProcess(child);
    if ((await server.#answer("ready")) === undefined)
      throw new Error("The server ended before it was ready.");
    return server;
  }

  /** Adds the task of a key; undefined if the server ended before it acknowledged that. */
  add(key: string): Promise<string | undefined> {
    this.#child.stdin?.write(`${key}\n`);
    return this.#answer(key);
  }

  /** Reports whether its own copies of tasks are up to date; false if it ended before. */
  async check(): Promise<boolean> {
    this.#child.stdin?.write("check\n");
    return (await this.#answer("checked")) !== undefined;
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#child.kill("SIGCONT");
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Stops it as a machine that hangs does, until `resume`. */
  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  /** The rest of the line that begins with this; undefined if it ends before. */
  #answer(name: string): Promise<string | undefined> {
    const answered = new Promise<string>((resolve) => this.#answers.set(name, resolve));
    return Promise.race([answered, this.#exited.then(() => undefined)]);
  }
}
