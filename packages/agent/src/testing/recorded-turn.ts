import type { ActionGuarantees, ClientToolCall, DriverEvent, Sandbox, TurnContext } from "@flint/core/ports";
import {
  type Action,
  type Answers,
  type Decision,
  FlintError,
  failedToolCall,
  type Item,
  type ItemType,
  isKnownItem,
  mintId,
  type ThreadSettings,
  type ToolCallResult,
  type UserInput,
  type UserQuestion,
} from "@flint/protocol";
import type { Tool, ToolOutcome } from "../tools/tool.ts";

/** Differences of a test's turn from a plain prompt in which everything is allowed. */
export interface TurnOptions extends Partial<Pick<TurnContext, "kind" | "review" | "outputSchema">> {
  readonly input?: readonly UserInput[];
  readonly settings?: Partial<ThreadSettings>;
  /** Decides an approval; `undefined` leaves it open until the turn stops. */
  readonly decide?: (action: Action) => Decision | Decision["outcome"] | undefined;
  readonly watch?: (event: DriverEvent) => void;
  readonly answers?: Answers | ((questions: readonly UserQuestion[]) => Answers);
  /** Ends the turn instead of `stop`. */
  readonly signal?: AbortSignal;
  /** The result of a client's tool; undefined leaves the call open until the turn stops. */
  readonly runTool?: (call: ClientToolCall) => ToolCallResult | undefined;
  readonly ready?: () => Promise<void>;
}

/** A turn that records its events and approvals, and answers as the test configures. */
export class RecordedTurn implements TurnContext {
  readonly turnId = mintId();
  readonly kind: TurnContext["kind"];
  readonly input: readonly UserInput[];
  readonly settings: ThreadSettings;
  readonly review: TurnContext["review"];
  readonly outputSchema: TurnContext["outputSchema"];
  readonly stop = new AbortController();
  readonly signal: AbortSignal;
  readonly events: DriverEvent[] = [];
  readonly actions: Action[] = [];
  /** The guarantees of each action. */
  readonly guarantees: ActionGuarantees[] = [];
  readonly questions: (readonly UserQuestion[])[] = [];
  readonly toolCalls: ClientToolCall[] = [];
  readonly #options: TurnOptions;

  constructor(text: string, settings: ThreadSettings, options: TurnOptions = {}) {
    this.input = options.input ?? [{ type: "text", text }];
    this.settings = { ...settings, ...options.settings };
    this.kind = options.kind ?? "prompt";
    this.review = options.review;
    this.outputSchema = options.outputSchema;
    this.signal = options.signal ?? this.stop.signal;
    this.#options = options;
  }

  emit(event: DriverEvent): void {
    this.events.push(event);
    this.#options.watch?.(event);
  }

  ready(): Promise<void> {
    return this.#options.ready?.() ?? new Promise((resolve) => setImmediate(resolve));
  }

  async approve(action: Action, guarantees: ActionGuarantees = {}): Promise<Decision> {
    this.actions.push(action);
    this.guarantees.push(guarantees);
    const { decide = () => "allow" as const } = this.#options;
    const decision = decide(action);
    if (typeof decision === "object") return decision;
    if (decision === undefined) await this.#stopped();
    return { outcome: decision ?? "cancel", scope: "once" };
  }

  async ask(_itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    this.questions.push(questions);
    const { answers = {} } = this.#options;
    return typeof answers === "function" ? answers(questions) : answers;
  }

  async callTool(call: ClientToolCall): Promise<ToolCallResult> {
    this.toolCalls.push(call);
    const result = this.#options.runTool?.(call);
    if (result === undefined) await this.#stopped();
    return result ?? failedToolCall("The turn has ended.");
  }

  /** The final items of one type. */
  completed<Type extends ItemType>(type: Type): Item<Type>[] {
    const items = this.events.flatMap((event) => (event.type === "item/completed" ? [event.item] : []));
    return items.filter(isKnownItem).filter((item): item is Item<Type> => item.type === type);
  }

  /** The text of all agent messages. */
  get text(): string {
    return this.completed("agentMessage")
      .map(({ text }) => text)
      .join("\n");
  }

  #stopped(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.signal.addEventListener("abort", () => resolve(), { once: true }));
  }
}

/** Settings of a thread in a folder: every action needs approval, and the workspace is writable. */
export function settingsIn(cwd: string): ThreadSettings {
  return {
    model: "flint/scripted",
    cwd,
    approvalPolicy: "always",
    sandboxPolicy: { type: "workspaceWrite" },
    config: {},
  };
}

/** The outcome of a tool call. */
export interface Called {
  readonly turn: RecordedTurn;
  readonly outcome: ToolOutcome;
  /** The result for the model; empty if the turn ended. */
  readonly text: string;
  readonly status: string;
}

/** Calls a tool in a folder. */
export async function callTool(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  folder: { readonly path: string },
  options: TurnOptions & { readonly sandbox?: Sandbox } = {},
): Promise<Called> {
  const turn = new RecordedTurn("", settingsIn(folder.path), options);
  const { signal } = turn;
  const sandbox = options.sandbox ?? NO_COMMANDS;
  const outcome = await tool.run(input, { turn, signal, sandbox, itemId: "item" });
  const result = "result" in outcome ? outcome.result : undefined;
  return { turn, outcome, text: result?.text ?? "", status: result?.status ?? "ended" };
}

/** A sandbox in which nothing can run. */
const NO_COMMANDS: Sandbox = {
  state: async () => ({ available: false, mechanism: "none" }),
  launch: () => Promise.reject(new FlintError("sandboxUnavailable", "Nothing can run here.")),
  start: () => Promise.reject(new FlintError("sandboxUnavailable", "Nothing can run here.")),
};
