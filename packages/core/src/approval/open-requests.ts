import {
  type Action,
  type Answers,
  type Approval,
  type Decision,
  type EventBody,
  FlintError,
  failedToolCall,
  mintId,
  type ResolvedBy,
  type ToolCallResult,
  type UserQuestion,
} from "@flint/protocol";
import type { ActionGuarantees, ClientToolCall, Clock, PolicyRules, Rules } from "../ports/index.ts";
import type { ThreadLog } from "../thread/log.ts";
import { type Actor, isGranted, rejectUnknownRule, rulesMadeBy, suggestionsFor } from "./grants.ts";
import { isWorkspaceEdit, judge, subjectOf, type Verdict } from "./policy.ts";

/** What open requests need of their thread. */
export interface OpenRequestsOptions {
  readonly threadId: string;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly policyRules?: PolicyRules | undefined;
  readonly timeoutMs: number;
  /** Where a path really leads, free of links. */
  realPath(path: string): string;
}

/** What resolved a request: a client, or something else. */
export interface Answerer {
  readonly by: ResolvedBy;
  readonly clientId?: string;
}

const CALL_ENDED = failedToolCall("The turn has ended.");

const TURN_ENDED: Decision = { outcome: "cancel", scope: "once", message: "The turn has ended." };

/**
 * The open approvals, questions and client tool calls of a thread. Each is resolved by the first answer of any client,
 * by its time limit, or with its turn. An allowed action starts only after the decision is on the disk.
 */
export class OpenRequests {
  readonly #options: OpenRequestsOptions;
  readonly #approvals = new PendingAnswers<Decision>("approval");
  readonly #questions = new PendingAnswers<Answers>("question");
  readonly #toolCalls = new PendingAnswers<ToolCallResult>("tool call");

  constructor(options: OpenRequestsOptions) {
    this.#options = options;
  }

  /** Decides about an action, by the policy or by asking the user. */
  async approve(
    turnId: string,
    agent: string,
    action: Action,
    guarantees?: ActionGuarantees,
  ): Promise<Decision> {
    const { log, rules, clock, realPath } = this.#options;
    const actor: Actor = { project: realPath(log.state.settings.cwd), agent, realPath };
    const verdict = this.#judge(action, actor, guarantees);
    if (verdict.kind === "allow") return { outcome: "allow", scope: "once" };
    if (verdict.kind === "deny") return declined(`It was declined: ${subjectOf(action)}. ${verdict.reason}`);
    const reason = [verdict.warning, action.reason ?? verdict.reason].filter((part) => part !== undefined);
    const asked = { ...action, reason: [...new Set(reason)].join(" ") };
    const suggestions = suggestionsFor(action, actor, clock.now());
    const decision = await this.#askApproval(turnId, asked, suggestions);
    for (const rule of rulesMadeBy(decision, { action, suggestions }, actor, clock.now())) rules.add(rule);
    return decision;
  }

  /** Asks the user; an empty record if there was no answer. */
  async question(turnId: string, itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    const { threadId, log } = this.#options;
    const { id, ...times } = this.#newRequest();
    const cancelTimeout = this.#afterTimeout(() => this.answer(id, {}, { by: "timeout" }));
    const answers = this.#questions.add(id, { turnId, itemId, cancelTimeout });
    const request = { id, turnId, itemId, questions: [...questions], ...times };
    await log.commit([{ type: "question/requested", data: { threadId, request } }]);
    return answers;
  }

  /** Has a client run a tool. Fails if no client is connected, or none answers in time. */
  async callTool(turnId: string, call: ClientToolCall): Promise<ToolCallResult> {
    const { threadId, log, timeoutMs } = this.#options;
    const { itemId, tool, namespace } = call;
    if (log.subscriberCount === 0) {
      return failedToolCall(`No client is connected to run ${tool}, which is a tool of the client.`);
    }
    const { id, ...times } = this.#newRequest();
    const late = failedToolCall(`No client ran ${tool} within ${Math.round(timeoutMs / 1000)} s.`);
    const cancelTimeout = this.#afterTimeout(() => this.completeToolCall(id, late, { by: "timeout" }));
    const result = this.#toolCalls.add(id, { turnId, itemId, cancelTimeout });
    const of = namespace === undefined ? {} : { namespace };
    const request = { id, turnId, itemId, tool, ...of, arguments: call.arguments, ...times };
    await log.commit([{ type: "tool/requested", data: { threadId, request } }]);
    return result;
  }

  /** Resolves an approval. `before` runs when the decision is on the disk and before it is sent to anyone. */
  async decide(id: string, decision: Decision, answerer: Answerer, before?: () => void): Promise<void> {
    const approval = this.#options.log.state.approvals.find((open) => open.id === id);
    if (approval !== undefined) rejectUnknownRule(decision, approval);
    const waiting = this.#approvals.take(id);
    const { threadId } = this.#options;
    const { turnId, itemId } = waiting;
    const resolution = { decision, ...answerer };
    const data = { threadId, turnId, approvalId: id, itemId, resolution };
    await this.#end(waiting, { type: "approval/resolved", data }, TURN_ENDED, before);
    waiting.settle(decision);
  }

  /** Resolves a question. */
  async answer(id: string, answers: Answers, answerer: Answerer, before?: () => void): Promise<void> {
    const waiting = this.#questions.take(id);
    const { threadId } = this.#options;
    const { turnId, itemId } = waiting;
    const data = { threadId, turnId, questionId: id, itemId, answers, by: answerer.by };
    await this.#end(waiting, { type: "question/resolved", data }, {}, before);
    waiting.settle(answers);
  }

  /** Resolves a call of a client's tool. */
  async completeToolCall(
    id: string,
    result: ToolCallResult,
    answerer: Answerer,
    before?: () => void,
  ): Promise<void> {
    const waiting = this.#toolCalls.take(id);
    const { threadId } = this.#options;
    const { turnId, itemId } = waiting;
    const data = { threadId, turnId, callId: id, itemId, success: result.success, by: answerer.by };
    await this.#end(waiting, { type: "tool/resolved", data }, CALL_ENDED, before);
    waiting.settle(result);
  }

  /** Cancels everything that a turn left open; the events that close the turn record it. */
  cancelTurn(turnId: string): void {
    this.#approvals.settleTurn(turnId, TURN_ENDED);
    this.#questions.settleTurn(turnId, {});
    this.#toolCalls.settleTurn(turnId, CALL_ENDED);
  }

  #judge(action: Action, actor: Actor, guarantees: ActionGuarantees = {}): Verdict {
    const { log, rules, policyRules } = this.#options;
    const { grants, rules: taken, settings } = log.state;
    const granted = isGranted(action, actor, { grants, accepted: taken, rules: rules.list() });
    const ruling = policyRules?.judge(action, actor.agent, settings.cwd);
    const { approvalPolicy, acceptEdits } = settings;
    const { onlyReads } = guarantees;
    const isAcceptedEdit = acceptEdits === true && isWorkspaceEdit(action, actor);
    return judge({ approvalPolicy, action, granted, ruling, policyRules, onlyReads, isAcceptedEdit });
  }

  async #askApproval(
    turnId: string,
    action: Action,
    suggestions: NonNullable<Approval["suggestions"]>,
  ): Promise<Decision> {
    const { threadId, log, timeoutMs } = this.#options;
    const { id, ...times } = this.#newRequest();
    const message = `There was no answer within ${Math.round(timeoutMs / 1000)} s, so it was declined: ${subjectOf(action)}`;
    const cancelTimeout = this.#afterTimeout(() => this.decide(id, declined(message), { by: "timeout" }));
    const decision = this.#approvals.add(id, { turnId, itemId: action.itemId, cancelTimeout });
    const offered = suggestions.length === 0 ? {} : { suggestions };
    const approval: Approval = { id, turnId, action, ...offered, ...times };
    await log.commit([{ type: "approval/requested", data: { threadId, approval } }]);
    return decision;
  }

  #newRequest() {
    const { clock, timeoutMs } = this.#options;
    const now = clock.now();
    return { id: mintId(now), requestedAtMs: now, expiresAtMs: now + timeoutMs };
  }

  #afterTimeout(end: () => Promise<void>): () => void {
    const { clock, timeoutMs } = this.#options;
    // A failed write stops the turn, through the log's `onFailure`.
    return clock.after(timeoutMs, () => void end().catch(() => undefined));
  }

  /** Stores the end of a request. If that fails, the request settles with `otherwise` and its turn is stopped. */
  async #end<Answer>(
    waiting: PendingAnswer<Answer>,
    body: EventBody,
    otherwise: Answer,
    before?: () => void,
  ): Promise<void> {
    try {
      await this.#options.log.commit([body], before);
    } catch (error) {
      waiting.settle(otherwise);
      throw error;
    }
  }
}

function declined(message: string): Decision {
  return { outcome: "deny", scope: "once", message };
}

/** A request without an answer. */
export interface PendingAnswer<Answer> {
  readonly turnId: string;
  readonly itemId: string;
  readonly settle: (answer: Answer) => void;
  readonly cancelTimeout: () => void;
}

/** The open requests of one kind. Each can be taken once; then it counts as answered. */
export class PendingAnswers<Answer> {
  readonly #what: string;
  readonly #pending = new Map<string, PendingAnswer<Answer>>();

  /** `what` names the kind in messages. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Adds a request and waits for its answer; `cancelTimeout` is called when it is taken. */
  add(
    id: string,
    request: Pick<PendingAnswer<Answer>, "turnId" | "itemId" | "cancelTimeout">,
  ): Promise<Answer> {
    return new Promise((settle) => {
      this.#pending.set(id, { ...request, settle });
    });
  }

  /** Removes an open request, to be settled by the caller. Throws `approvalNotFound` if it is not open. */
  take(id: string): PendingAnswer<Answer> {
    const found = this.#pending.get(id);
    if (found === undefined) {
      const message = `No open ${this.#what} ${id}; it may have been answered already.`;
      throw new FlintError("approvalNotFound", message, { id });
    }
    this.#pending.delete(id);
    found.cancelTimeout();
    return found;
  }

  /** Settles all open requests of a turn with the same answer. */
  settleTurn(turnId: string, answer: Answer): void {
    for (const [id, waiting] of this.#pending) if (waiting.turnId === turnId) this.take(id).settle(answer);
  }
}
