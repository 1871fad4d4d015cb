import {
  type Action,
  type Answers,
  type Decision,
  type EventBody,
  grantKeys,
  mintId,
  type ResolvedBy,
  type UserQuestion,
} from "@flint/protocol";
import { judge } from "./policy.ts";
import type { Clock, Rules } from "./ports/index.ts";
import type { ThreadLog } from "./thread-log.ts";
import { type Waiting, WaitingAnswers } from "./waiting-answers.ts";

/** What open requests need to know of their thread. */
export interface OpenRequestsOptions {
  readonly threadId: string;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly timeoutMs: number;
}

/** Who answered: a client with its id, or nobody. */
export interface Answerer {
  readonly by: ResolvedBy;
  readonly clientId?: string;
}

const TURN_ENDED: Decision = { outcome: "cancel", scope: "once", message: "The turn has ended." };

/**
 * The approvals and questions that wait for somebody. Every one ends: by the first answer of any client, by its
 * time limit, or with its turn. What is allowed happens only after the answer is on the disk.
 */
export class OpenRequests {
  readonly #options: OpenRequestsOptions;
  readonly #approvals = new WaitingAnswers<Decision>("approval");
  readonly #questions = new WaitingAnswers<Answers>("question");

  constructor(options: OpenRequestsOptions) {
    this.#options = options;
  }

  /** Whether an action may happen: the policy says it, or somebody who is asked. */
  async approve(turnId: string, agent: string, action: Action): Promise<Decision> {
    const { log, rules } = this.#options;
    const { settings, grants } = log.state;
    const keys = grantKeys(action);
    const isGranted = (key: string) => grants.includes(key) || rules.has(ruleKey(settings.cwd, agent, key));
    // What has no key cannot have been allowed before.
    const granted = keys.length > 0 && keys.every(isGranted);
    const verdict = judge({ approvalPolicy: settings.approvalPolicy, action, granted });
    if (verdict.kind === "allow") return { outcome: "allow", scope: "once" };
    if (verdict.kind === "deny") return { outcome: "deny", scope: "once", message: verdict.reason };
    const decision = await this.#askApproval(turnId, { ...action, reason: action.reason ?? verdict.reason });
    if (decision.outcome === "allow" && decision.scope === "always") {
      for (const key of keys) rules.add(ruleKey(settings.cwd, agent, key));
    }
    return decision;
  }

  /** Asks the user; an empty record when nobody answered. */
  async question(turnId: string, itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    const { threadId, log } = this.#options;
    const { id, ...times } = this.#newRequest();
    const cancelTimeout = this.#afterTimeout(() => this.answer(id, {}, { by: "timeout" }));
    const answers = this.#questions.add(id, { turnId, itemId, cancelTimeout });
    const request = { id, turnId, itemId, questions: [...questions], ...times };
    await log.commit([{ type: "question/requested", data: { threadId, request } }]);
    return answers;
  }

  /** Takes the answer to an approval. `before` runs when it is on the disk and before anybody else is told. */
  async decide(id: string, decision: Decision, answerer: Answerer, before?: () => void): Promise<void> {
    const waiting = this.#approvals.take(id);
    const { threadId } = this.#options;
    const { turnId, itemId } = waiting;
    const resolution = { decision, ...answerer };
    const data = { threadId, turnId, approvalId: id, itemId, resolution };
    await this.#end(waiting, { type: "approval/resolved", data }, TURN_ENDED, before);
    waiting.settle(decision);
  }

  /** Takes the answers to a question. */
  async answer(id: string, answers: Answers, answerer: Answerer, before?: () => void): Promise<void> {
    const waiting = this.#questions.take(id);
    const { threadId } = this.#options;
    const { turnId, itemId } = waiting;
    const data = { threadId, turnId, questionId: id, itemId, answers, by: answerer.by };
    await this.#end(waiting, { type: "question/resolved", data }, {}, before);
    waiting.settle(answers);
  }

  /** Lets go of everything that a turn left open; the turn's own closing events say so in the log. */
  dropTurn(turnId: string): void {
    this.#approvals.settleTurn(turnId, TURN_ENDED);
    this.#questions.settleTurn(turnId, {});
  }

  async #askApproval(turnId: string, action: Action): Promise<Decision> {
    const { threadId, log, timeoutMs } = this.#options;
    const { id, ...times } = this.#newRequest();
    const message = `Nobody answered within ${Math.round(timeoutMs / 1000)} s, so it was declined: ${subject(action)}`;
    const cancelTimeout = this.#afterTimeout(() =>
      this.decide(id, { outcome: "deny", scope: "once", message }, { by: "timeout" }),
    );
    const decision = this.#approvals.add(id, { turnId, itemId: action.itemId, cancelTimeout });
    const approval = { id, turnId, action, ...times };
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
    // An end that cannot be written ends the turn, because the log says so to whoever runs it.
    return clock.after(timeoutMs, () => void end().catch(() => undefined));
  }

  /** Stores the end of a request. If that fails it is neither open nor answered: its turn ends, and so does the wait. */
  async #end<Answer>(
    waiting: Waiting<Answer>,
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

function ruleKey(cwd: string, agent: string, key: string): string {
  return `${cwd}\n${agent}\n${key}`;
}

/** What an action is about, in one line. */
function subject(action: Action): string {
  switch (action.kind) {
    case "command":
      return action.command;
    case "fileChange":
      return action.changes.map((change) => change.path).join(", ");
    case "tool":
      return action.server === undefined ? action.tool : `${action.server}/${action.tool}`;
  }
}
