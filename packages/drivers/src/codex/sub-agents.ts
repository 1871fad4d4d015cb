import type { DriverEvent } from "@flint/core/ports";
import type { Item } from "@flint/protocol";
import type { CodexItem, CodexNotification, CodexServerCall } from "@flint/protocol/codex";
import type { CodexServer } from "./process/server.ts";
import { activityIn, nestedEvents, subAgentCall } from "./translate/sub-agents.ts";
import { adoptTurn, beginTurn, step, type TranslateState } from "./translate.ts";

/** Dependencies of sub-agents on their turn. */
export interface SubAgentsOptions {
  readonly server: CodexServer;
  readonly cwd: string;
  /** Emits an event of the turn. `model` is that of the sub-agent, if it is known. */
  emit(event: DriverEvent, model: string | undefined): void;
  /** Answers a request that a sub-agent makes, whose items are in this state. */
  answer(call: CodexServerCall, state: () => TranslateState): Promise<object>;
  /** Called when a sub-agent has ended. */
  ended(): void;
}

/** A sub-agent: a thread of Codex that works for a turn of another thread. */
interface SubAgent {
  readonly threadId: string;
  readonly model: string | undefined;
  call: Item<"toolCall">;
  state: TranslateState;
  isWorking: boolean;
  stopListening(): void;
}

/**
 * The sub-agents of one turn, and theirs. Codex runs each in a thread of its own; what it does, uses and requests there
 * belongs to the turn that it works for.
 */
export class SubAgents {
  readonly #options: SubAgentsOptions;
  readonly #agents = new Map<string, SubAgent>();

  constructor(options: SubAgentsOptions) {
    this.#options = options;
  }

  /** Reports whether one of them still works. */
  get areWorking(): boolean {
    return [...this.#agents.values()].some(({ isWorking }) => isWorking);
  }

  /** Takes a notification about the beginning or end of a sub-agent. False if it is about anything else. */
  observe(notification: CodexNotification, parentItemId?: string): boolean {
    const activity = activityIn(notification);
    if (activity === undefined) return false;
    const known = this.#agents.get(activity.agentThreadId);
    if (activity.kind === "started") {
      if (known === undefined) this.#start(activity, parentItemId);
    } else if (known !== undefined && activity.kind !== "interacted") {
      this.#end(known, activity.kind === "completed" ? "completed" : "failed");
    }
    return true;
  }

  /** Interrupts those that still work. */
  interrupt(): void {
    for (const { threadId, state, isWorking } of this.#agents.values()) {
      if (!isWorking || state.turnId === undefined) continue;
      // Codex does not respond if the sub-agent has ended in the meantime.
      const params = { threadId, turnId: state.turnId };
      this.#options.server.request("turn/interrupt", params).catch(() => undefined);
    }
  }

  /** The turn is over: those that still work are interrupted, and nothing of them counts any more. */
  close(): void {
    this.interrupt();
    for (const agent of this.#agents.values()) agent.stopListening();
    this.#agents.clear();
  }

  #start(activity: CodexItem<"subAgentActivity">, parentItemId: string | undefined): void {
    const { server, cwd, emit, answer } = this.#options;
    const { agentThreadId: threadId, model } = activity;
    const agent: SubAgent = {
      ...{ threadId, model: model ?? undefined, isWorking: true },
      call: subAgentCall(activity, parentItemId),
      state: beginTurn(cwd, "prompt", 0),
      stopListening: () => {},
    };
    this.#agents.set(threadId, agent);
    emit({ type: "item/started", item: agent.call }, agent.model);
    agent.stopListening = server.listen(threadId, {
      notification: (notification) => this.#onNotification(agent, notification),
      call: (call) => answer(call, () => agent.state),
    });
  }

  #onNotification(agent: SubAgent, notification: CodexNotification): void {
    if (this.observe(notification, agent.call.id)) return;
    if (notification.method === "thread/closed") {
      this.#end(agent, "failed");
      return;
    }
    if (notification.method === "turn/started") {
      const begun = beginTurn(this.#options.cwd, "prompt", agent.state.totalTokens);
      agent.state = adoptTurn(begun, notification.params.turn.id);
      agent.isWorking = true;
      return;
    }
    const [state, events] = step(agent.state, notification);
    agent.state = state;
    for (const event of nestedEvents(events, agent.call.id)) this.#options.emit(event, agent.model);
    if (state.outcome !== undefined)
      this.#end(agent, state.outcome.status === "completed" ? "completed" : "failed");
  }

  #end(agent: SubAgent, status: "completed" | "failed"): void {
    agent.isWorking = false;
    if (agent.call.status === "inProgress") {
      agent.call = { ...agent.call, status };
      this.#options.emit({ type: "item/completed", item: agent.call }, agent.model);
    }
    this.#options.ended();
  }
}
