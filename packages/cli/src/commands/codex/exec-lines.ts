import {
  agentOfModel,
  NO_USAGE,
  type ThreadItem,
  type TokenUsage,
  type Turn,
  type TurnError,
} from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import type { Outputs } from "../exec/output/piped.ts";
import type { TurnView } from "../exec/output/turn-view.ts";
import { bodyOf, type ExecItemBody, type ExecLine, type ExecUsage, type TodoItem } from "./exec-items.ts";

/** The state between events. */
export interface LinesState {
  readonly answer: (text: string) => string;
  readonly agent: string;
  /** The number of items that have been numbered. */
  readonly numbered: number;
  /** The numbers of items that were printed and have not completed. */
  readonly open: ReadonlyMap<string, string>;
  readonly todo: { readonly id: string; readonly items: readonly TodoItem[] } | undefined;
  readonly usage: TokenUsage;
  /** The latest error. */
  readonly problem: string | undefined;
}

/** The result of one event: the next state, and the lines to print. */
export interface LinesStep {
  readonly state: LinesState;
  readonly lines: readonly ExecLine[];
}

/** The state before the first event. `answer` formats the agent's messages. */
export function initialLines(answer: (text: string) => string = (text) => text): LinesState {
  return {
    answer,
    agent: "agent",
    numbered: 0,
    open: new Map(),
    todo: undefined,
    usage: NO_USAGE,
    problem: undefined,
  };
}

/** Translates one event of a thread into the lines that `codex exec --experimental-json` prints for it. */
export function stepLines(state: LinesState, event: AgentEvent): LinesStep {
  switch (event.type) {
    case "thread/started": {
      const { id, model } = event.data.thread;
      return {
        state: { ...state, agent: agentOfModel(model) },
        lines: [{ type: "thread.started", thread_id: id }],
      };
    }
    case "turn/started":
      return { state, lines: [{ type: "turn.started" }] };
    case "item/started":
      return onItemStarted(state, event.data.item);
    case "item/completed":
      return onItemCompleted(state, event.data.item);
    case "turn/plan/updated":
      return onPlan(
        state,
        event.data.plan.map(({ step, status }) => ({ text: step, completed: status === "completed" })),
      );
    case "thread/tokenUsage/updated":
      return { state: { ...state, usage: event.data.usage }, lines: [] };
    case "error":
      return onError(state, describe(event.data.error));
    case "warning":
      return onNotice(state, event.data.message);
    case "model/rerouted": {
      const { fromModel, toModel, reason } = event.data;
      return onNotice(state, `model rerouted: ${fromModel} -> ${toModel} (${reason})`);
    }
    case "turn/completed":
      return onTurnCompleted(state, event.data.turn);
    default:
      return { state, lines: [] };
  }
}

function onItemStarted(state: LinesState, item: ThreadItem): LinesStep {
  const body = bodyOf(item, "started", state);
  if (body === undefined) return { state, lines: [] };
  const known = state.open.get(item.id);
  if (known !== undefined) return { state, lines: [{ type: "item.updated", item: { id: known, ...body } }] };
  const { id, state: numbered } = numberItem(state);
  const open = new Map(numbered.open).set(item.id, id);
  return { state: { ...numbered, open }, lines: [{ type: "item.started", item: { id, ...body } }] };
}

function onItemCompleted(state: LinesState, item: ThreadItem): LinesStep {
  const body = bodyOf(item, "completed", state);
  if (body === undefined) return { state, lines: [] };
  const known = state.open.get(item.id);
  if (known === undefined) return completedItem(state, body);
  const open = new Map(state.open);
  open.delete(item.id);
  return { state: { ...state, open }, lines: [{ type: "item.completed", item: { id: known, ...body } }] };
}

/** The to-do list is one item of the whole turn. */
function onPlan(state: LinesState, items: readonly TodoItem[]): LinesStep {
  if (state.todo !== undefined) {
    const todo = { id: state.todo.id, items };
    const item = { id: todo.id, type: "todo_list", items } as const;
    return { state: { ...state, todo }, lines: [{ type: "item.updated", item }] };
  }
  const { id, state: numbered } = numberItem(state);
  const item = { id, type: "todo_list", items } as const;
  return { state: { ...numbered, todo: { id, items } }, lines: [{ type: "item.started", item }] };
}

function onNotice(state: LinesState, message: string): LinesStep {
  return completedItem(state, { type: "error", message });
}

function onError(state: LinesState, message: string): LinesStep {
  return { state: { ...state, problem: message }, lines: [{ type: "error", message }] };
}

function onTurnCompleted(state: LinesState, turn: Turn): LinesStep {
  const begun = turn.items.filter(({ id }) => state.open.has(id));
  const closed = begun.reduce<LinesStep>((step, item) => {
    const next = onItemCompleted(step.state, item);
    return { state: next.state, lines: [...step.lines, ...next.lines] };
  }, closeTodo(state));
  const ending = endingOf(closed.state, turn);
  return { state: closed.state, lines: [...closed.lines, ...ending] };
}

function closeTodo(state: LinesState): LinesStep {
  if (state.todo === undefined) return { state, lines: [] };
  const { id, items } = state.todo;
  const item = { id, type: "todo_list", items } as const;
  return { state: { ...state, todo: undefined }, lines: [{ type: "item.completed", item }] };
}

/** A failure is printed as an error first, as Codex does, unless that error was just printed. */
function endingOf({ usage, problem }: LinesState, { status, error }: Turn): ExecLine[] {
  if (status === "completed") return [{ type: "turn.completed", usage: usageOf(usage) }];
  if (status !== "failed") return [failed("The turn was interrupted.")];
  const message = error === undefined ? (problem ?? "The agent gave no reason.") : describe(error);
  return message === problem ? [failed(message)] : [{ type: "error", message }, failed(message)];
}

function failed(message: string): ExecLine {
  return { type: "turn.failed", error: { message } };
}

function describe({ message, additionalDetails }: TurnError): string {
  return additionalDetails === undefined || additionalDetails === ""
    ? message
    : `${message} (${additionalDetails})`;
}

function completedItem(state: LinesState, body: ExecItemBody): LinesStep {
  const { id, state: numbered } = numberItem(state);
  return { state: numbered, lines: [{ type: "item.completed", item: { id, ...body } }] };
}

function numberItem(state: LinesState): { readonly id: string; readonly state: LinesState } {
  return { id: `item_${state.numbered}`, state: { ...state, numbered: state.numbered + 1 } };
}

function usageOf(usage: TokenUsage): ExecUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, thinkingTokens = 0 } = usage;
  return {
    input_tokens: usage.inputTokens + cacheReadTokens + cacheWriteTokens,
    cached_input_tokens: cacheReadTokens,
    cache_write_input_tokens: cacheWriteTokens,
    output_tokens: usage.outputTokens + thinkingTokens,
    reasoning_output_tokens: thinkingTokens,
  };
}

/** Prints the lines of `codex exec --experimental-json`; stdout has nothing else. */
export class CodexLinesView implements TurnView {
  readonly #outputs: Outputs;
  #state: LinesState;

  constructor(outputs: Outputs, answer: ((text: string) => string) | undefined) {
    this.#outputs = outputs;
    this.#state = initialLines(answer);
  }

  show(event: AgentEvent): void {
    const { state, lines } = stepLines(this.#state, event);
    this.#state = state;
    for (const line of lines) this.#outputs.answer(`${JSON.stringify(line)}\n`);
  }

  say(text: string): void {
    this.#outputs.aside(`${escapeControls(text)}\n`);
  }

  end(): void {}

  close(): void {}
}
