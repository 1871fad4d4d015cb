import type { ContentBlock } from "@agentclientprotocol/sdk";
import { answerElicitation } from "@flint/core/elicitation";
import { type DriverEvent, orAborted, type TurnContext, type TurnOutcome } from "@flint/core/ports";
import type { UnifiedDiff } from "@flint/host/files";
import { asFlintError, type Decision, FlintError, type Item, type TurnError } from "@flint/protocol";
import { RemoteError } from "@flint/rpc";
import type { ClientServices } from "./asks/client-services.ts";
import type { Desk } from "./asks/desk.ts";
import { AllowedWork } from "./asks/granted.ts";
import { answerOf, CANCELLED, type PermissionAnswer } from "./asks/permission.ts";
import { chooseAll } from "./choices.ts";
import type { AcpAgent } from "./process/agent.ts";
import type { AcpAgentOptions } from "./process/launch.ts";
import { ACP_CODES, RequestRefusal } from "./process/request-refusal.ts";
import { SilenceWatch } from "./silence.ts";
import { settlesWithin } from "./stopping.ts";
import { actionOf } from "./translate/tool-item.ts";
import {
  type AcpState,
  beginTurn,
  declineToolCall,
  endTurn,
  type Step,
  showToolCall,
  step,
  takeItemId,
} from "./translate.ts";
import { type JsonObject, objectOf, stringOf } from "./wire.ts";

/** What a turn is made of. */
export interface AcpTurnOptions {
  readonly turn: TurnContext;
  /** Aborted when the turn is to stop, whoever says so. */
  readonly signal: AbortSignal;
  readonly agent: AcpAgent;
  readonly options: AcpAgentOptions;
  readonly services: ClientServices;
  readonly diff: UnifiedDiff;
}

/** How a turn ended, the agent's own last words about it, and whether the agent can be used again. */
export interface AcpTurnEnd {
  readonly outcome: TurnOutcome;
  readonly answer: JsonObject;
  readonly isUsable: boolean;
}

const STOPPED: Decision = { outcome: "cancel", scope: "once" };
const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** One turn of an agent: what it tells is translated, what it asks is answered, until it is over. */
export class AcpTurn implements Desk {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly allowed = new AllowedWork();
  readonly #options: AcpTurnOptions;
  readonly #silence: SilenceWatch;
  #state: AcpState;
  #openRequests = 0;
  #hasDeclined = false;
  /** The agent has nothing more to ask. */
  #isAnswered = false;
  #isOver = false;

  constructor(options: AcpTurnOptions) {
    const { turn, signal, diff } = options;
    this.#options = options;
    this.turn = turn;
    this.signal = signal;
    this.#state = beginTurn(turn.turnId, { cwd: turn.settings.cwd, diff });
    this.#silence = new SilenceWatch(
      options.options.clock,
      options.options.profile.silenceMs,
      () => this.#isBusy,
    );
  }

  /** Does it. Never rejects. */
  async run(prompt: () => Promise<readonly ContentBlock[]>): Promise<AcpTurnEnd> {
    const { agent, options } = this.#options;
    // Expected: an agent that dies, refuses, or does not understand. Each is a failed turn with a reason.
    try {
      const chosen = chooseAll(agent, this.turn.settings, options).then(() => true);
      if (!(await orAborted(chosen, this.signal, false))) return await this.#stopAgent();
      const answered = agent.prompt(await prompt());
      const noteAnswer = () => {
        this.#isAnswered = true;
      };
      answered.then(noteAnswer, noteAnswer);
      return await this.#converse(answered);
    } catch (thrown) {
      return await this.#failed(thrown);
    } finally {
      this.#silence.end();
      // How its commands ended still belongs to the turn.
      await this.#options.services.stopTerminals();
      this.#isOver = true;
    }
  }

  /** Takes one update of the agent. */
  update(update: JsonObject): void {
    if (this.#isOver) return;
    this.#silence.heard();
    this.#advance(step(this.#state, update));
    this.#options.services.link(update, (callId, text) => this.#printed(callId, text));
  }

  /** Answers one request of the agent. Rejects with a RequestRefusal. */
  async answer(method: string, params: JsonObject): Promise<unknown> {
    this.#openRequests += 1;
    try {
      return await this.#answer(method, params);
    } finally {
      this.#openRequests -= 1;
      this.#silence.heard();
    }
  }

  emit(event: DriverEvent): void {
    if (!this.#isOver) this.turn.emit(event);
  }

  takeItemId(): string {
    const [state, id] = takeItemId(this.#state);
    this.#state = state;
    return id;
  }

  get #isBusy(): boolean {
    if (this.#openRequests > 0) return true;
    return [...this.#state.tools.values()].some(
      ({ call, isDone }) => !isDone && call.status === "in_progress",
    );
  }

  async #answer(method: string, params: JsonObject): Promise<unknown> {
    const isOver = this.#isAnswered || this.#isOver || this.signal.aborted;
    if (method === "session/request_permission") return isOver ? CANCELLED : this.#permission(params);
    if (isOver) throw new RequestRefusal("cancelled", "The turn has ended.");
    if (method === "elicitation/create") return this.#elicitation(params);
    return this.#options.services.answer(method, params, this);
  }

  async #permission(request: JsonObject): Promise<PermissionAnswer> {
    const told = objectOf(request.toolCall);
    const toolCallId = stringOf(told.toolCallId) ?? `unnamed ${this.#state.items}`;
    this.#advance(showToolCall(this.#state, { ...told, toolCallId }));
    const track = this.#state.tools.get(toolCallId);
    if (track === undefined) return CANCELLED;
    const action = actionOf(track.itemId, track.call, this.#state.place);
    const decision = await orAborted(this.turn.approve(action), this.signal, STOPPED);
    if (decision.outcome === "allow") {
      this.allowed.note(track.call, this.#state.place);
      return this.signal.aborted ? CANCELLED : answerOf(decision, request);
    }
    this.#hasDeclined = true;
    this.#state = declineToolCall(this.#state, toolCallId);
    return answerOf(decision, request);
  }

  /** A question belongs to the call that it is about, else to an item of its own. */
  async #elicitation(request: JsonObject): Promise<object> {
    const { displayName } = this.#options.options.profile;
    const known = this.#state.tools.get(stringOf(request.toolCallId) ?? "");
    const itemId = known?.form === undefined ? this.takeItemId() : known.itemId;
    const told = { tool: "question", title: stringOf(request.message) ?? "" };
    const item: Item<"toolCall"> = { type: "toolCall", id: itemId, ...told, status: "inProgress" };
    if (known?.form === undefined) this.emit({ type: "item/started", item });
    const answer = await answerElicitation(displayName, request, (questions) =>
      orAborted(this.turn.ask(itemId, questions), this.signal, {}),
    );
    if (known?.form === undefined) {
      const status = answer.action === "accept" ? "completed" : "declined";
      this.emit({ type: "item/completed", item: { ...item, status } });
    }
    return answer;
  }

  async #converse(answered: Promise<JsonObject>): Promise<AcpTurnEnd> {
    const silent = this.#silence.tooLong.then(() => "silent" as const);
    const end = await Promise.race([orAborted(answered, this.signal, "stopped" as const), silent]);
    if (end === "stopped") return this.#stopAgent(answered);
    if (end === "silent") return this.#tooSilent();
    return this.#ended(end);
  }

  /** Asks the agent to stop; if it does not, nobody waits for it. */
  async #stopAgent(answered?: Promise<JsonObject>): Promise<AcpTurnEnd> {
    const { agent, options } = this.#options;
    const over = { outcome: INTERRUPTED, answer: {} };
    if (answered === undefined) return { ...over, isUsable: false };
    agent.cancel();
    const [isUsable] = await Promise.all([
      settlesWithin(options.clock, options.profile.cancelMs, answered),
      this.#options.services.stopTerminals(),
    ]);
    if (!isUsable) await agent.stop();
    return { ...over, isUsable };
  }

  async #tooSilent(): Promise<AcpTurnEnd> {
    const { agent, options } = this.#options;
    await agent.stop();
    const seconds = Math.round(options.profile.silenceMs / 1000);
    const message = `${options.profile.displayName} said nothing for ${seconds} seconds and was stopped. Try again.`;
    return failure({ message, errorInfo: "AgentFailed" }, false);
  }

  #ended(answer: JsonObject): AcpTurnEnd {
    const { displayName, rejectionEndsTurn } = this.#options.options.profile;
    switch (answer.stopReason) {
      case "cancelled": {
        // Some agents take a no to one call for the end of the turn.
        const isByRejection = this.#hasDeclined && rejectionEndsTurn;
        return isByRejection ? this.#completed(answer) : { outcome: INTERRUPTED, answer, isUsable: true };
      }
      case "refusal":
        return failure(
          { message: `${displayName} refused to go on with this.`, errorInfo: "Refused" },
          true,
          answer,
        );
      case "max_tokens": {
        const message = `${displayName} stopped because an answer became too long. Ask it to go on.`;
        return failure({ message, errorInfo: "ContextWindowExceeded" }, true, answer);
      }
      case "max_turn_requests": {
        const message = `${displayName} stopped because the turn took too many steps. Ask it to go on.`;
        return failure({ message, errorInfo: "TurnLimitReached" }, true, answer);
      }
      default:
        return this.#completed(answer);
    }
  }

  #completed(answer: JsonObject): AcpTurnEnd {
    this.#advance(endTurn(this.#state));
    return { outcome: { status: "completed" }, answer, isUsable: true };
  }

  async #failed(thrown: unknown): Promise<AcpTurnEnd> {
    const isRefusal = thrown instanceof RemoteError;
    const error = await this.#options.agent.failure(thrown).catch(asFlintError);
    const isLogin = isRefusal && thrown.code === ACP_CODES.authRequired;
    const { login } = this.#options.options.profile;
    const hint = isLogin && login !== undefined ? ` Run: ${login.hint}` : "";
    const errorInfo = isLogin ? "Unauthorized" : "AgentFailed";
    const isUsable = isRefusal || thrown instanceof FlintError;
    return failure({ message: `${error.message}${hint}`, errorInfo }, isUsable);
  }

  #printed(toolCallId: string, data: string): void {
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

function failure(error: TurnError, isUsable: boolean, answer: JsonObject = {}): AcpTurnEnd {
  return { outcome: { status: "failed", error }, answer, isUsable };
}
