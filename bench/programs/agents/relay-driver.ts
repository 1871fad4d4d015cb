import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Driver, DriverSession, TurnContext, TurnOutcome } from "@flint/core/ports";
import { inputText, LIMITS } from "@flint/protocol";
import { LineReader } from "@flint/rpc";
import type { EngineFrame } from "./engine-frame.ts";

/** A driver like those of real agents: a process on a pipe for each session, whose lines become events. */
export function relayDriver(enginePath: string): Driver {
  return {
    id: "relay",
    // It writes no files, and what saving them costs is a figure of its own.
    asksFirst: true,
    models: async () => [{ id: "relay/engine", displayName: "Engine", isDefault: true }],
    options: async () => [],
    open: async () => new RelaySession(enginePath),
  };
}

interface Running {
  readonly turn: TurnContext;
  end(outcome: TurnOutcome): void;
}

class RelaySession implements DriverSession {
  readonly #engine: ChildProcessByStdio<Writable, Readable, null>;
  #running: Running | undefined;

  constructor(enginePath: string) {
    this.#engine = spawn(process.execPath, [enginePath], { stdio: ["pipe", "pipe", "inherit"] });
    const reader = new LineReader({
      limit: LIMITS.line,
      line: (text) => this.#onLine(text),
      fault: ({ kind }) => this.#end({ status: "failed", error: { message: `unreadable line: ${kind}` } }),
    });
    this.#engine.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
    this.#engine.on("close", () => this.#end({ status: "failed", error: { message: "the engine ended" } }));
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    turn.signal.addEventListener("abort", () => this.#end({ status: "interrupted" }), { once: true });
    return new Promise((resolve) => {
      this.#running = { turn, end: resolve };
      this.#engine.stdin.write(`${inputText(turn.input)}\n`);
    });
  }

  async close(): Promise<void> {
    if (this.#engine.exitCode !== null || this.#engine.signalCode !== null) return;
    const closed = once(this.#engine, "close");
    this.#engine.kill();
    await closed;
  }

  #onLine(text: string): void {
    // The fake engine writes nothing else.
    const frame = JSON.parse(text) as EngineFrame;
    const turn = this.#running?.turn;
    switch (frame.method) {
      case "item/agentMessage/delta":
        turn?.emit({ type: frame.method, itemId: frame.params.itemId, delta: frame.params.delta });
        break;
      case "item/started":
      case "item/completed":
        turn?.emit({ type: frame.method, item: { ...frame.params.item } });
        break;
      case "turn/completed":
        this.#end({ status: "completed" });
        break;
      default:
        frame satisfies never;
    }
  }

  #end(outcome: TurnOutcome): void {
    this.#running?.end(outcome);
    this.#running = undefined;
  }
}
