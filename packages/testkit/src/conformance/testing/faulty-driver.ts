import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Driver, DriverSession, SessionSpec, TurnContext, TurnOutcome } from "@flint/core/ports";
import { type Action, type ConfigOption, inputText, mintId, type UserInput } from "@flint/protocol";

/** One thing that a pliable driver does wrong. */
export type Fault =
  | "twoDefaults"
  | "noUsage"
  | "doesNotAsk"
  | "actsWhenDenied"
  | "ignoresInterrupt"
  | "talksOn"
  | "startsStopped"
  | "ignoresSteer"
  | "completesFailure"
  | "forgets"
  | "sharesFork"
  | "emptyFork"
  | "leaksFork"
  | "wholeFork"
  | "needsFork"
  | "staysOpen"
  | "wrongDiff"
  | "writesDeclined"
  | "yesForEverything"
  | "oneModel"
  | "stubbornSelector"
  | "silentRetry"
  | "staysBroken"
  | "survivesKill";

/** The disk of the agent, which all objects of a pliable driver share. */
export interface AgentDisk {
  readonly said: Map<string, string[]>;
  latestModel: string;
  toolRan: boolean;
  /** The failure of the model in the next turn with the prompt "hello". */
  failure: "none" | "refused" | "retried";
  readonly processes: Set<ChildProcess>;
}

/** An empty disk. */
export function agentDisk(): AgentDisk {
  return { said: new Map(), latestModel: "", toolRan: false, failure: "none", processes: new Set() };
}

export const BEFORE = "one\ntwo\n";
export const AFTER = "one\nthree\n";
const DIFF = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
const COMPLETED: TurnOutcome = { status: "completed" };
const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** A driver that does everything right, except for one fault if it is given one: proof that the suite finds it. */
export class FaultyDriver implements Driver {
  readonly id = "pliable";
  readonly #fault: Fault | undefined;
  readonly #disk: AgentDisk;

  constructor(fault: Fault | undefined, disk: AgentDisk) {
    this.#fault = fault;
    this.#disk = disk;
  }

  async models() {
    const isDefault = this.#fault === "twoDefaults";
    return [
      { id: "pliable/a", displayName: "A", isDefault: true },
      { id: "pliable/b", displayName: "B", isDefault },
    ];
  }

  async options(_model: string, values: Readonly<Record<string, string>>): Promise<ConfigOption[]> {
    const value = this.#fault === "stubbornSelector" ? "low" : (values.effort ?? "low");
    const options = ["low", "high"].map((id) => ({ id, name: id }));
    return [{ type: "select", id: "effort", name: "Effort", options, value }];
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    return new PliableSession(spec, this.#fault, this.#disk);
  }
}

class PliableSession implements DriverSession {
  readonly #fault: Fault | undefined;
  readonly #disk: AgentDisk;
  readonly #nativeId: string;
  readonly #closing = new AbortController();
  readonly #spec: SessionSpec;
  #steered: ((text: string) => void) | undefined;
  #allowsAll = false;
  #isBroken = false;
  #wasClosed = false;
  /** The session that wrongly receives what is said in this one. */
  #leakId: string | undefined;

  constructor(spec: SessionSpec, fault: Fault | undefined, disk: AgentDisk) {
    this.#spec = spec;
    this.#fault = fault;
    this.#disk = disk;
    this.#nativeId = spec.nativeId ?? this.#forked() ?? mintId();
  }

  /** The id of a copy of the session that it is a fork of. */
  #forked(): string | undefined {
    const { forkOf } = this.#spec;
    const said = forkOf === undefined ? undefined : this.#disk.said.get(forkOf.nativeId);
    if (forkOf === undefined || said === undefined) return undefined;
    if (this.#fault === "sharesFork") return forkOf.nativeId;
    const id = mintId();
    if (this.#fault === "leaksFork") this.#leakId = forkOf.nativeId;
    const known = this.#fault === "wholeFork" ? said : said.slice(0, Number(forkOf.position ?? said.length));
    this.#disk.said.set(id, this.#fault === "emptyFork" ? [] : known);
    return id;
  }

  async run(turn: TurnContext): Promise<TurnOutcome> {
    if (turn.signal.aborted && this.#fault !== "startsStopped") return INTERRUPTED;
    turn.emit({ type: "session", nativeId: this.#nativeId });
    if (this.#fault !== "oneModel") this.#disk.latestModel = turn.settings.model;
    if (this.#isBroken && this.#fault === "staysBroken") return failed("still broken");
    const { forkOf } = this.#spec;
    const isMissing = forkOf !== undefined && !this.#disk.said.has(forkOf.nativeId);
    if (isMissing && this.#fault === "needsFork") return failed("nothing to copy");
    const text = inputText(turn.input);
    const said = this.#disk.said.get(this.#nativeId) ?? [];
    const outcome = await this.#act(turn, text, said);
    this.#disk.said.set(this.#nativeId, [...said, text]);
    turn.emit({ type: "position", position: String(said.length + 1) });
    if (this.#leakId !== undefined) this.#disk.said.set(this.#leakId, [...said, text]);
    if (this.#fault !== "noUsage") turn.emit({ type: "usage", last: { inputTokens: 3, outputTokens: 2 } });
    return outcome;
  }

  async steer(input: readonly UserInput[]): Promise<boolean> {
    const steered = this.#steered;
    this.#steered = undefined;
    steered?.(this.#fault === "ignoresSteer" ? "nothing" : inputText(input));
    return steered !== undefined;
  }

  async close(): Promise<void> {
    if (this.#fault !== "staysOpen" || this.#wasClosed) this.#closing.abort();
    this.#wasClosed = true;
  }

  #act(turn: TurnContext, text: string, said: readonly string[]): Promise<TurnOutcome> | TurnOutcome {
    switch (text) {
      case "tool":
        return this.#command(turn, "make lamp");
      case "other":
        return this.#command(turn, "make another lamp");
      case "longTool":
        return this.#command(turn, "sleep 1000", true);
      case "stream":
        return this.#stream(turn);
      case "failure":
        return this.#fault === "completesFailure" ? COMPLETED : failed("the lamp is broken");
      case "steer":
        return this.#untilSteered(turn);
      case "change":
        return this.#change(turn);
      case "recall":
        return say(turn, this.#fault === "forgets" ? "Nothing." : `You said ${said.join(", ")}.`);
      default:
        return this.#greet(turn);
    }
  }

  #greet(turn: TurnContext): TurnOutcome {
    const { failure } = this.#disk;
    this.#disk.failure = "none";
    if (failure === "refused") {
      this.#isBroken = true;
      return failed("the model refused");
    }
    const error = { message: "the model is busy" };
    if (failure === "retried" && this.#fault !== "silentRetry")
      turn.emit({ type: "error", error, willRetry: true });
    return say(turn, "Hello.");
  }

  async #command(turn: TurnContext, command: string, lasts = false): Promise<TurnOutcome> {
    const { cwd } = turn.settings;
    const id = mintId();
    const item = { type: "commandExecution" as const, id, command, cwd, status: "inProgress" as const };
    const isAllowed = await this.#mayDo(turn, { kind: "command", itemId: id, command, cwd });
    if (turn.signal.aborted) return INTERRUPTED;
    turn.emit({ type: "item/started", item });
    if (lasts) {
      await this.#stopped(turn);
      return INTERRUPTED;
    }
    const acts = isAllowed || this.#fault === "actsWhenDenied";
    if (acts) this.#disk.toolRan = true;
    turn.emit({ type: "item/completed", item: { ...item, status: acts ? "completed" : "declined" } });
    return COMPLETED;
  }

  async #change(turn: TurnContext): Promise<TurnOutcome> {
    const id = mintId();
    const diff = this.#fault === "wrongDiff" ? DIFF.replace("+three", "+four") : DIFF;
    const changes = [{ path: "notes.txt", kind: "modify" as const, diff }];
    const item = { type: "fileChange" as const, id, changes, status: "inProgress" as const };
    const isAllowed = await this.#mayDo(turn, { kind: "fileChange", itemId: id, changes });
    turn.emit({ type: "item/started", item });
    if (isAllowed || this.#fault === "writesDeclined")
      await writeFile(join(this.#spec.settings.cwd, "notes.txt"), AFTER);
    turn.emit({ type: "item/completed", item: { ...item, status: isAllowed ? "completed" : "declined" } });
    return COMPLETED;
  }

  async #mayDo(turn: TurnContext, action: Action): Promise<boolean> {
    if (this.#fault === "doesNotAsk" || this.#allowsAll) return true;
    const { outcome, scope } = await turn.approve(action);
    if (scope === "session" && this.#fault === "yesForEverything") this.#allowsAll = true;
    return outcome === "allow";
  }

  /** Talks for as long as its process runs. */
  async #stream(turn: TurnContext): Promise<TurnOutcome> {
    const id = mintId();
    const agent = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    this.#disk.processes.add(agent);
    const ended = once(agent, "exit");
    turn.emit({ type: "item/started", item: { type: "agentMessage", id, text: "" } });
    while (!this.#isStopped(turn) && (agent.signalCode === null || this.#fault === "survivesKill")) {
      turn.emit({ type: "item/agentMessage/delta", itemId: id, delta: "x" });
      if (agent.signalCode !== null) break;
      await turn.ready();
    }
    const wasKilled = agent.signalCode !== null;
    agent.kill("SIGKILL");
    await ended;
    this.#disk.processes.delete(agent);
    if (this.#fault === "talksOn")
      setImmediate(() => turn.emit({ type: "item/agentMessage/delta", itemId: id, delta: "late" }));
    if (this.#closing.signal.aborted) return failed("closed");
    if (wasKilled) return this.#fault === "survivesKill" ? COMPLETED : failed("the agent died");
    return INTERRUPTED;
  }

  async #untilSteered(turn: TurnContext): Promise<TurnOutcome> {
    const steered = new Promise<string>((resolve) => {
      this.#steered = resolve;
    });
    say(turn, "Go on?");
    return say(turn, `You said: ${await steered}`);
  }

  #isStopped({ signal }: TurnContext): boolean {
    return (signal.aborted && this.#fault !== "ignoresInterrupt") || this.#closing.signal.aborted;
  }

  #stopped({ signal }: TurnContext): Promise<void> {
    const stop = this.#fault === "ignoresInterrupt" ? this.#closing.signal : signal;
    return new Promise((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
  }
}

function say(turn: TurnContext, text: string): TurnOutcome {
  const item = { type: "agentMessage" as const, id: mintId(), text: "" };
  turn.emit({ type: "item/started", item });
  turn.emit({ type: "item/agentMessage/delta", itemId: item.id, delta: text });
  turn.emit({ type: "item/completed", item: { ...item, text } });
  return COMPLETED;
}

function failed(message: string): TurnOutcome {
  return { status: "failed", error: { message } };
}
