import type { DriverEvent, TurnContext, TurnOutcome } from "@flint/core/ports";
import {
  type Action,
  type Answers,
  type Decision,
  type DeltaType,
  FlintError,
  type Item,
  type ReviewTarget,
  type ThreadSettings,
  type ToolCallResult,
  type TurnKind,
  type UserInput,
} from "@flint/protocol";
import { settled } from "../clock.ts";
import type { Script, Step } from "./script.ts";

/** The input of a scripted agent's turn, and the outcome. */
export interface TurnRecord {
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly settings: ThreadSettings;
  readonly review: ReviewTarget | undefined;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly steers: (readonly UserInput[])[];
  readonly decisions: Decision[];
  readonly answers: Answers[];
  readonly toolResults: ToolCallResult[];
  outcome: TurnOutcome | undefined;
  rejection: unknown;
}

type StepWith<Key extends PropertyKey> = Extract<Step, Readonly<Record<Key, unknown>>>;
type Guarded = StepWith<"command"> | StepWith<"fileChange"> | StepWith<"tool">;
type WorkItem = Item<"commandExecution"> | Item<"fileChange"> | Item<"toolCall">;

/** The effect of a step on the turn: none, or its end. */
type Ended = TurnOutcome | undefined;

const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** The number of deltas that a flood reports before it waits for the log. */
const DELTAS_PER_WAIT = 32;

/** Plays the script of one turn against what the core gave to it. */
export class ScriptPlayer {
  readonly #turn: TurnContext;
  readonly #record: TurnRecord;
  readonly #signal: AbortSignal;
  readonly #stopped: Promise<void>;
  readonly #nextId: () => string;
  readonly #late: StepWith<"afterEnd">[] = [];
  #ended = false;
  #unusedSteers = 0;
  #steered: () => void = () => {};

  /** `signal` is the turn's own, or a wider one; `nextId` names the items. */
  constructor(turn: TurnContext, record: TurnRecord, signal: AbortSignal, nextId: () => string) {
    this.#turn = turn;
    this.#record = record;
    this.#signal = signal;
    this.#nextId = nextId;
    this.#stopped = new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Plays to the end of the script or of the turn, whatever comes first. */
  async play(script: Script): Promise<TurnOutcome> {
    try {
      const outcome = await this.#playAll(script);
      this.#record.outcome = outcome;
      return outcome;
    } catch (error) {
      // A script may make the agent reject; the record has with what.
      this.#record.rejection = error;
      throw error;
    } finally {
      this.#ended = true;
      for (const step of this.#late) this.#emitLate(step);
    }
  }

  /** Takes further input, unless the turn has ended. */
  steer(input: readonly UserInput[]): boolean {
    if (this.#ended) return false;
    this.#record.steers.push(input);
    this.#unusedSteers += 1;
    this.#steered();
    return true;
  }

  async #playAll(script: Script): Promise<TurnOutcome> {
    for (const step of script) {
      if (this.#signal.aborted) return INTERRUPTED;
      const ended = await this.#step(step);
      if (ended !== undefined) return ended;
    }
    return this.#signal.aborted ? INTERRUPTED : { status: "completed" };
  }

  async #step(step: Step): Promise<Ended> {
    if ("emit" in step) return this.#emit(step.emit);
    if ("text" in step) return this.#text(step);
    if ("reasoning" in step) return this.#reasoning(step);
    if ("command" in step) return this.#command(step);
    if ("fileChange" in step) return this.#fileChange(step);
    if ("tool" in step) return this.#tool(step);
    if ("approve" in step) return this.#approve(step.approve);
    if ("ask" in step) return this.#ask(step);
    if ("clientTool" in step) return this.#clientTool(step);
    if ("wait" in step)
      return step.ignoresInterrupt ? this.#finish(step.wait.wait()) : this.#orStopped(step.wait.wait());
    if ("deltas" in step) return this.#flood(step);
    if ("usage" in step) return this.#usage(step);
    if ("plan" in step) return this.#plan(step);
    if ("fail" in step) return { status: "failed", error: step.fail };
    if ("throws" in step) throw step.throws;
    if ("hang" in step) return new Promise(() => {});
    if ("untilSteered" in step) return this.#untilSteered();
    if ("afterEnd" in step) return this.#finish(this.#late.push(step));
    if ("die" in step) throw new FlintError("agentFailed", "The scripted agent died, as its script says.");
    return step satisfies never;
  }

  #emit(event: DriverEvent): undefined {
    this.#turn.emit(event);
  }

  async #finish(work: unknown): Promise<undefined> {
    await work;
  }

  async #orStopped(work: Promise<unknown>): Promise<undefined> {
    await Promise.race([work, this.#stopped]);
  }

  #text(step: StepWith<"text">): undefined {
    const item: Item<"agentMessage"> = { type: "agentMessage", id: this.#nextId(), text: "" };
    this.#emit({ type: "item/started", item });
    this.#stream("item/agentMessage/delta", item.id, inPieces(step.text, step.pieces ?? 1));
    return this.#emit({ type: "item/completed", item: { ...item, text: step.text } });
  }

  #reasoning(step: StepWith<"reasoning">): undefined {
    const item: Item<"reasoning"> = { type: "reasoning", id: this.#nextId() };
    this.#emit({ type: "item/started", item });
    this.#stream("item/reasoning/textDelta", item.id, inPieces(step.reasoning, step.pieces ?? 1));
    return this.#emit({ type: "item/completed", item: { ...item, content: step.reasoning } });
  }

  #stream(type: DeltaType, itemId: string, pieces: readonly string[]): void {
    for (const delta of pieces) this.#emit({ type, itemId, delta });
  }

  #command(step: StepWith<"command">): Promise<Ended> {
    const { command, output = [], exitCode = 0 } = step;
    const { cwd } = this.#turn.settings;
    const id = this.#nextId();
    const item: WorkItem = { type: "commandExecution", id, command, cwd, status: "inProgress" };
    const action: Action = { kind: "command", itemId: id, command, cwd, ...reasonOf(step) };
    return this.#guarded(step, item, action, async () => {
      this.#stream("item/commandExecution/outputDelta", id, output);
      if (step.until !== undefined) await this.#orStopped(step.until.wait());
      const status = exitCode === 0 ? "completed" : "failed";
      return { ...item, status, exitCode, aggregatedOutput: output.join(""), durationMs: 0 };
    });
  }

  #fileChange(step: StepWith<"fileChange">): Promise<Ended> {
    const id = this.#nextId();
    const changes = [...step.fileChange];
    const item: WorkItem = { type: "fileChange", id, changes, status: "inProgress" };
    const action: Action = { kind: "fileChange", itemId: id, changes, ...reasonOf(step) };
    return this.#guarded(step, item, action, async () => ({ ...item, status: "completed" }));
  }

  #tool(step: StepWith<"tool">): Promise<Ended> {
    const { tool, arguments: given, result } = step;
    const id = this.#nextId();
    const item: WorkItem = { type: "toolCall", id, tool, arguments: given, status: "inProgress" };
    const action: Action = { kind: "tool", itemId: id, tool, arguments: given, ...reasonOf(step) };
    return this.#guarded(step, item, action, async () => ({ ...item, status: "completed", result }));
  }

  /** Work that needs a yes. When the turn stops in the middle the item stays open, as with an agent that is killed. */
  async #guarded(
    step: Guarded,
    item: WorkItem,
    action: Action,
    work: () => Promise<WorkItem>,
  ): Promise<Ended> {
    if (step.startsFirst) this.#emit({ type: "item/started", item });
    const outcome = step.asks === false ? "allow" : await this.#decide(action);
    if (this.#signal.aborted) return INTERRUPTED;
    if (!step.startsFirst) this.#emit({ type: "item/started", item });
    if (outcome !== "allow") {
      this.#emit({ type: "item/completed", item: { ...item, status: "declined" } });
      return outcome === "cancel" ? INTERRUPTED : undefined;
    }
    const finished = await work();
    return this.#signal.aborted ? INTERRUPTED : this.#emit({ type: "item/completed", item: finished });
  }

  async #decide(action: Action): Promise<"allow" | "deny" | "cancel"> {
    const decision = await Promise.race([this.#turn.approve(action), this.#stopped]);
    if (decision === undefined) return "cancel";
    this.#record.decisions.push(decision);
    return decision.outcome;
  }

  async #approve(action: Action): Promise<Ended> {
    const outcome = await this.#decide(action);
    return outcome === "cancel" ? INTERRUPTED : undefined;
  }

  async #ask(step: StepWith<"ask">): Promise<undefined> {
    const answers = await Promise.race([this.#turn.ask(this.#nextId(), step.ask), this.#stopped]);
    if (answers !== undefined) this.#record.answers.push(answers);
  }

  async #clientTool(step: StepWith<"clientTool">): Promise<undefined> {
    const { clientTool: tool, namespace, arguments: given } = step;
    const id = this.#nextId();
    const item: Item<"toolCall"> = { type: "toolCall", id, tool, arguments: given, status: "inProgress" };
    this.#emit({ type: "item/started", item });
    const call = this.#turn.callTool({ itemId: id, tool, namespace, arguments: given });
    const result = await Promise.race([call, this.#stopped]);
    if (result === undefined) return;
    this.#record.toolResults.push(result);
    const status = result.success ? "completed" : "failed";
    this.#emit({ type: "item/completed", item: { ...item, status, result: result.content } });
  }

  async #flood(step: StepWith<"deltas">): Promise<Ended> {
    const item: Item<"agentMessage"> = { type: "agentMessage", id: this.#nextId(), text: "" };
    const delta = "x".repeat(step.size);
    this.#emit({ type: "item/started", item });
    for (let count = 0; count < step.deltas; count += 1) {
      // A log that is always ready must not keep everybody else from having a turn.
      if (count % DELTAS_PER_WAIT === 0) await this.#orStopped(Promise.all([this.#turn.ready(), settled()]));
      if (this.#signal.aborted) return INTERRUPTED;
      this.#emit({ type: "item/agentMessage/delta", itemId: item.id, delta });
    }
    return this.#emit({ type: "item/completed", item: { ...item, text: delta.repeat(step.deltas) } });
  }

  #usage({ usage, ...rest }: StepWith<"usage">): undefined {
    return this.#emit({ type: "usage", last: usage, ...rest });
  }

  #plan(step: StepWith<"plan">): undefined {
    const { plan, explanation = "" } = step;
    return this.#emit({ type: "turn/plan/updated", explanation, plan });
  }

  async #untilSteered(): Promise<undefined> {
    if (this.#unusedSteers === 0) {
      await this.#orStopped(
        new Promise<void>((resolve) => {
          this.#steered = resolve;
        }),
      );
    }
    this.#unusedSteers = Math.max(0, this.#unusedSteers - 1);
  }

  #emitLate(step: StepWith<"afterEnd">): void {
    const moment = step.when?.wait() ?? settled();
    moment.then(
      () => this.#turn.emit(step.afterEnd),
      () => {},
    );
  }
}

function reasonOf(step: Guarded): { reason?: string } {
  return step.reason === undefined ? {} : { reason: step.reason };
}

/** A text in so many pieces of about the same length, without cutting through a character. */
export function inPieces(text: string, count: number): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / count));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}
