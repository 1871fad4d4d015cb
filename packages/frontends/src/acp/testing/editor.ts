import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { CreateTerminalRequest } from "@agentclientprotocol/sdk";
import type { ClientApp } from "./setup.ts";

/** A command in a terminal of the editor. */
interface Terminal {
  readonly request: CreateTerminalRequest;
  readonly child: ChildProcess;
  readonly exited: Promise<{ exitCode: number | null; signal: string | null }>;
  output: string;
}

/** An editor with terminals that run real commands, and with buffers that may not be saved. */
export class TestEditor {
  readonly capabilities = { terminal: true, fs: { readTextFile: true, writeTextFile: true } };
  readonly terminals = new Map<string, Terminal>();
  /** The texts of open files by path. */
  readonly buffers = new Map<string, string>();
  /** Every request of its terminals and files, in order. */
  readonly requests: string[] = [];
  /** The methods that it never answers. */
  readonly silent = new Set<string>();
  /** The methods that it refuses. */
  readonly refuses = new Set<string>();

  readonly #waiting: (() => void)[] = [];

  /** Adds what the editor can do to its client. */
  readonly extend = (app: ClientApp): void => {
    app
      .onRequest("terminal/create", ({ params }) => this.#answer("terminal/create", () => this.#open(params)))
      .onRequest("terminal/output", ({ params }) =>
        this.#answer("terminal/output", () => ({ output: this.#of(params).output, truncated: false })),
      )
      .onRequest("terminal/wait_for_exit", ({ params }) =>
        this.#answer("terminal/wait_for_exit", () => this.#of(params).exited),
      )
      .onRequest("terminal/kill", ({ params }) =>
        this.#answer("terminal/kill", () => {
          this.#of(params).child.kill("SIGKILL");
          return {};
        }),
      )
      .onRequest("terminal/release", ({ params }) =>
        this.#answer("terminal/release", () => {
          this.#of(params).child.kill("SIGKILL");
          return {};
        }),
      )
      .onRequest("fs/read_text_file", ({ params: { path } }) =>
        this.#answer("fs/read_text_file", () => {
          const content = this.buffers.get(path);
          if (content === undefined) throw new Error("not open");
          return { content };
        }),
      )
      .onRequest("fs/write_text_file", ({ params: { path, content } }) =>
        this.#answer("fs/write_text_file", () => {
          this.buffers.set(path, content);
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, content);
          return {};
        }),
      );
  };

  /** Resolves when it has been sent a request so many times. */
  async asked(method: string, times = 1): Promise<void> {
    while (this.count(method) < times) await new Promise<void>((wake) => this.#waiting.push(wake));
  }

  /** Returns the number of times that it was sent a request. */
  count(method: string): number {
    return this.requests.filter((sent) => sent === method).length;
  }

  #of({ terminalId }: { readonly terminalId: string }): Terminal {
    const terminal = this.terminals.get(terminalId);
    if (terminal === undefined) throw new Error(`no terminal ${terminalId}`);
    return terminal;
  }

  async #answer<Response>(method: string, respond: () => Response | Promise<Response>): Promise<Response> {
    this.requests.push(method);
    for (const wake of this.#waiting.splice(0)) wake();
    if (this.refuses.has(method)) throw new Error("not now");
    return this.silent.has(method) ? new Promise(() => undefined) : respond();
  }

  #open(request: CreateTerminalRequest): { terminalId: string } {
    const terminalId = `term-${this.terminals.size + 1}`;
    const { command, args = [], cwd, env = [] } = request;
    const added = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const child = spawn(command, args, { cwd: cwd ?? ".", env: { ...process.env, ...added }, stdio: "pipe" });
    const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
      child.on("close", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    const terminal: Terminal = { request, child, exited, output: "" };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        terminal.output += chunk.toString();
      });
    }
    this.terminals.set(terminalId, terminal);
    return { terminalId };
  }
}
