import type { ContentBlock } from "@agentclientprotocol/sdk";
import { answerElicitation } from "@flint/core/elicitation";
import {
  type Clock,
  type DriverEvent,
  orAborted,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import type { UnifiedDiff } from "@flint/host/files";
import {
  asFlintError,
  type Decision,
  FlintError,
  type Item,
  stringOf,
  type TurnError,
} from "@flint/protocol";
import { RemoteError } from "@flint/rpc";
import { type JsonObject, objectOf } from "../shared/json.ts";
import { sandboxedChange } from "../shared/outside-changes.ts";
import type { AcpAgent } from "./process/agent.ts";
import { ACP_CODES, RequestRefusal } from "./process/connection.ts";
import type { AcpAgentOptions } from "./process/launch.ts";
import type { ClientRequests } from "./requests/client-requests.ts";
import {
  ApprovedActions,
  CANCELLED,
  type PermissionResponse,
  permissionResponse,
  type RequestContext,
} from "./requests/permissions.ts";
import { actionOf } from "./translate/tool-item.ts";
import {
  type AcpState,
  beginTurn,
  declineToolCall,
  endTurn,
  newItemId,
  ofProvider,
  type Step,
  showToolCall,
  step,
} from "./translate.ts";

/** Options of a turn. */
export interface AcpTurnOptions {
  readonly turn: TurnContext;
  /** Aborted when the turn has to stop, for whatever reason. */
  readonly signal: AbortSignal;
  readonly agent: AcpAgent;
  readonly options: AcpAgentOptions;
  readonly requests: ClientRequests;
  readonly diff: UnifiedDiff;
}

/** The outcome of a turn, the agent's response to the prompt, and whether its process can take another one. */
export interface AcpTurnEnd {
  readonly outcome: TurnOutcome;
  readonly response: JsonObject;
  readonly isUsable: boolean;
}

const STOPPED: Decision = { outcome: "cancel", scope: "once" };
const ALLOWED: Decision = { outcome: "allow", scope: "once" };
const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** One turn of an agent: its updates are translated and its requests answered until it is over. */
export class AcpTurn implements RequestContext {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly approved = new ApprovedActions();
  readonly #options: AcpTurnOptions;
  #state: AcpState;
  #hasDeclined = false;
  /** True if the agent has responded to the prompt, so that nothing else it asks belongs to the turn. */
  #hasResponse = false;
  #isOver = false;

  constructor(options: AcpTurnOptions) {
    const { turn, signal, diff } = options;
    this.#options = options;
    this.turn = turn;
    this.signal = signal;
    this.#state = beginTurn(turn.turnId, { cwd: turn.settings.cwd, diff });
  }

  /** Runs the turn. Never rejects. */
  async run(prompt: () => Promise<readonly ContentBlock[]>): Promise<AcpTurnEnd> {
    const { agent, requests } = this.#options;
    // Expected: an agent that dies, refuses, or sends what is not understood. Each fails the turn with a reason.
    try {
      const applied = agent.applySettings(this.turn.settings).then(() => true);
      if (!(await orAborted(applied, this.signal, false))) return await this.#cancel();
      const response = agent.prompt(await prompt());
      const noteResponse = () => {
        this.#hasResponse = true;
      };
      response.then(noteResponse, noteResponse);
      return await this.#untilEnd(response);
    } catch (thrown) {
      return await this.#failed(thrown);
    } finally {
      // The end of its commands still belongs to the turn.
      await requests.stopTerminals();
      this.#isOver = true;
    }
  }

  /** Handles a session update. */
  update(update: JsonObject): void {
    if (this.#isOver) return;
    this.#advance(step(this.#state, update));
    this.#options.requests.embedTerminals(update, (callId, text) => this.#onTerminalOutput(callId, text));
  }

  /** Answers a request of the agent. Rejects with a RequestRefusal. */
  async answer(method: string, params: JsonObject): Promise<unknown> {
    const isOver = this.#hasResponse || this.#isOver || this.signal.aborted;
    if (method === "session/request_permission") return isOver ? CANCELLED : this.#requestPermission(params);
    if (isOver) throw new RequestRefusal("cancelled", "The turn has ended.");
    if (method === "elicitation/create") return this.#elicit(params);
    return this.#options.requests.answer(method, params, this);
  }

  emit(event: DriverEvent): void {
    if (!this.#isOver) this.turn.emit(ofProvider(event, this.#options.options.profile.provider));
  }

  takeItemId(): string {
    const [state, id] = newItemId(this.#state);
    this.#state = state;
    return id;
  }

  async #requestPermission(request: JsonObject): Promise<PermissionResponse> {
    const toolCall = objectOf(request.toolCall);
    const toolCallId = stringOf(toolCall.toolCallId) ?? `unnamed ${this.#state.stream.items}`;
    this.#advance(showToolCall(this.#state, { ...toolCall, toolCallId }));
    const tracked = this.#state.tools.get(toolCallId);
    if (tracked === undefined) return CANCELLED;
    const { call } = tracked;
    if (this.approved.takeForFolders(call, this.#state.context)) return permissionResponse(ALLOWED, request);
    const asked = actionOf(tracked.itemId, call, this.#state.context);
    const { agent } = this.#options;
    const { action, guarantees } = await sandboxedChange(asked, this.turn.settings, agent.canResume);
    const decision = await orAborted(this.turn.approve(action, guarantees), this.signal, STOPPED);
    if (decision.outcome === "allow") {
      this.approved.add(call, this.#state.context);
      return this.signal.aborted ? CANCELLED : permissionResponse(decision, request);
    }
    this.#hasDeclined = true;
    this.#state = declineToolCall(this.#state, toolCallId);
    return permissionResponse(decision, request);
  }

  /** A question is shown in the item of the call that it is about, or else in an item of its own. */
  async #elicit(request: JsonObject): Promise<object> {
    const { displayName } = this.#options.options.profile;
    const tracked = this.#state.tools.get(stringOf(request.toolCallId) ?? "");
    const hasItem = tracked?.form !== undefined;
    const itemId = hasItem ? tracked.itemId : this.takeItemId();
    const shown = { tool: "question", title: stringOf(request.message) ?? "" };
    const item: Item<"toolCall"> = { type: "toolCall", id: itemId, ...shown, status: "inProgress" };
    if (!hasItem) this.emit({ type: "item/started", item });
    const answer = await answerElicitation(displayName, request, (questions) =>
      orAborted(this.turn.ask(itemId, questions), this.signal, {}),
    );
    if (!hasItem) {
      const status = answer.action === "accept" ? "completed" : "declined";
      this.emit({ type: "item/completed", item: { ...item, status } });
    }
    return answer;
  }

  async #untilEnd(response: Promise<JsonObject>): Promise<AcpTurnEnd> {
    const end = await orAborted(response, this.signal, "stopped" as const);
    return end === "stopped" ? this.#cancel(response) : this.#ended(end);
  }

  /** Asks the agent to cancel the turn, and stops an agent that does not. */
  async #cancel(response?: Promise<JsonObject>): Promise<AcpTurnEnd> {
    const { agent, options, requests } = this.#options;
    const end = { outcome: INTERRUPTED, response: {} };
    if (response === undefined) return { ...end, isUsable: false };
    agent.cancel();
    const [isUsable] = await Promise.all([
      settlesWithin(options.clock, options.profile.cancelMs, response),
      requests.stopTerminals(),
    ]);
    if (!isUsable) await agent.stop();
    return { ...end, isUsable };
  }

  #ended(response: JsonObject): AcpTurnEnd {
    const { displayName, rejectionCancelsTurn } = this.#options.options.profile;
    const failed = (message: string, errorInfo: string) => failure({ message, errorInfo }, true, response);
    switch (response.stopReason) {
      case "cancelled": {
        const isByRejection = this.#hasDeclined && rejectionCancelsTurn;
        return isByRejection ? this.#completed(response) : { outcome: INTERRUPTED, response, isUsable: true };
      }
      case "refusal":
        return failed(`${displayName} refused to continue.`, "Refused");
      case "max_tokens": {
        const message = `${displayName} stopped because an answer became too long. Ask it to continue.`;
        return failed(message, "OutputLimitReached");
      }
      case "max_turn_requests": {
        const message = `${displayName} stopped because the turn took too many steps. Ask it to continue.`;
        return failed(message, "TurnLimitReached");
      }
      default:
        return this.#completed(response);
    }
  }

  #completed(response: JsonObject): AcpTurnEnd {
    this.#advance(endTurn(this.#state));
    return { outcome: { status: "completed" }, response, isUsable: true };
  }

  async #failed(thrown: unknown): Promise<AcpTurnEnd> {
    const { agent, options } = this.#options;
    const isRefusal = thrown instanceof RemoteError;
    const error = await agent.failure(thrown).catch(asFlintError);
    const { login } = options.profile;
    const needsLogin = isRefusal && thrown.code === ACP_CODES.authRequired;
    const hint = needsLogin && login !== undefined ? ` Run: ${login.hint}` : "";
    const errorInfo = needsLogin ? "Unauthorized" : "AgentFailed";
    const isUsable = isRefusal || thrown instanceof FlintError;
    return failure({ message: `${error.message}${hint}`, errorInfo }, isUsable);
  }

  #onTerminalOutput(toolCallId: string, data: string): void {
    this.update({
      sessionUpdate: "tool_call_update",
      toolCallId,
      _meta: { terminal_output_delta: { data } },
    });
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.emit(event);
  }
}

function failure(error: TurnError, isUsable: boolean, response: JsonObject = {}): AcpTurnEnd {
  return { outcome: { status: "failed", error }, response, isUsable };
}

/** Reports whether a promise settles within a time, resolved or rejected. */
async function settlesWithin(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let cancel = () => {};
  const late = new Promise<boolean>((resolve) => {
    cancel = clock.after(milliseconds, () => resolve(false));
  });
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => cancel());
}
