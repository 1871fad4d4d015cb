import {
  type Action,
  type Answers,
  type Decision,
  FlintError,
  grantKeys,
  mintId,
  type ResolvedBy,
  type UserQuestion,
} from "@flint/protocol";
import { judge } from "./policy.ts";
import type { Clock, Rules } from "./ports/index.ts";
import type { ThreadLog } from "./thread-log.ts";

/** What open requests need to know of their thread. */
export interface OpenRequestsOptions {
  readonly threadId: string;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly timeoutMs: number;
}

interface Open<Answer> {
  readonly turnId: string;
  readonly itemId: string;
  readonly settle: (answer: Answer) => void;
  readonly cancelTimeout: () => void;
}

/** Who answered: a client with its id, or nobody. */
export interface Answerer {
  readonly by: ResolvedBy;
  readonly clientId?: string;
}

/**
 * The approvals and questions that wait for somebody. Every one ends: by the first answer of any client, by its
 * time limit, or with its turn. What is allowed happens only after the answer is on the disk.
 */
export class OpenRequests {
  readonly #options: OpenRequestsOptions;
  readonly #approvals = new Map<string, Open<Decision>>();
  readonly #questions = new Map<string, Open<Answers>>();

  constructor(options: OpenRequestsOptions) {
    this.#options = options;
  }

  /** Whether an action may happen: the policy says it, or somebody who is asked. */
  async approve(turnId: string, agent: string, action: Action): Promise<Decision> {
    const { log, rules } = this.#options;
    const { settings, grants } = log.state;
    const keys = grantKeys(action);
    const granted = keys.every((key) => grants.includes(key) || rules.has(ruleKey(settings.cwd, agent, key)));
    const verdict = judge({ approvalPolicy: settings.approvalPolicy, action, granted });
    if (verdict.kind === "allow") return { outcome: "allow", scope: "once" };
    if (verdict.kind === "deny") return { outcome: "deny", scope: "once", message: verdict.reason };
    const decision = await this.#ask(turnId, { ...action, reason: action.reason ?? verdict.reason });
    if (decision.outcome === "allow" && decision.scope === "always") {
      for (const key of keys) rules.add(ruleKey(settings.cwd, agent, key));
    }
    return decision;
  }

  /** Asks the user; an empty record when nobody answered. */
  async question(turnId: string, itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    const { log, clock, threadId, timeoutMs } = this.#options;
    const id = mintId(clock.now());
    const now = clock.now();
    const request = {
      id,
      turnId,
      itemId,
      questions: [...questions],
      requestedAtMs: now,
      expiresAtMs: now + timeoutMs,
    };
    const answers = this.#wait(this.#questions, id, { turnId, itemId }, () =>
      this.answer(id, {}, { by: "timeout" }),
    );
    await log.commit([{ type: "question/requested", data: { threadId, request } }]);
    return answers;
  }

  /** Takes the answer to an approval. `before` runs when it is on the disk and before anybody else is told. */
  async decide(approvalId: string, decision: Decision, answerer: Answerer, before?: () => void): Promise<void> {
    const open = take(this.#approvals, approvalId, "approval");
    const { threadId, log } = this.#options;
    const { turnId, itemId } = open;
    const resolution = { decision, ...answerer };
    await log.commit(
      [{ type: "approval/resolved", data: { threadId, turnId, approvalId, itemId, resolution } }],
      before,
    );
    open.settle(decision);
  }

  /** Takes the answers to a question. */
  async answer(questionId: string, answers: Answers, answerer: Answerer, before?: () => void): Promise<void> {
    const open = take(this.#questions, questionId, "question");
    const { threadId, log } = this.#options;
    const { turnId, itemId } = open;
    const data = { threadId, turnId, questionId, itemId, answers, by: answerer.by };
    await log.commit([{ type: "question/resolved", data }], before);
    open.settle(answers);
  }

  /** Lets go of everything that a turn left open; the turn's own closing events say so in the log. */
  dropTurn(turnId: string): void {
    for (const [id, open] of this.#approvals) {
      if (open.turnId !== turnId) continue;
      this.#approvals.delete(id);
      open.cancelTimeout();
      open.settle({ outcome: "cancel", scope: "once", message: "The turn has ended." });
    }
    for (const [id, open] of this.#questions) {
      if (open.turnId !== turnId) continue;
      this.#questions.delete(id);
      open.cancelTimeout();
      open.settle({});
    }
  }

  async #ask(turnId: string, action: Action): Promise<Decision> {
    const { log, clock, threadId, timeoutMs } = this.#options;
    const now = clock.now();
    const id = mintId(now);
    const approval = { id, turnId, action, requestedAtMs: now, expiresAtMs: now + timeoutMs };
    const place = { turnId, itemId: action.itemId };
    const message = `Nobody answered within ${Math.round(timeoutMs / 1000)} s, so it was declined: ${subject(action)}`;
    const decision = this.#wait(this.#approvals, id, place, () =>
      this.decide(id, { outcome: "deny", scope: "once", message }, { by: "timeout" }),
    );
    await log.commit([{ type: "approval/requested", data: { threadId, approval } }]);
    return decision;
  }

  #wait<Answer>(
    open: Map<string, Open<Answer>>,
    id: string,
    place: { turnId: string; itemId: string },
    timedOut: () => Promise<void>,
  ): Promise<Answer> {
    const { clock, timeoutMs } = this.#options;
    return new Promise((settle) => {
      // A time limit that cannot be written ends with the turn, which the failing log ends too.
      const cancelTimeout = clock.after(timeoutMs, () => void timedOut().catch(() => undefined));
      open.set(id, { ...place, settle, cancelTimeout });
    });
  }
}

function take<Answer>(open: Map<string, Open<Answer>>, id: string, what: string): Open<Answer> {
  const found = open.get(id);
  if (found === undefined) {
    throw new FlintError("approvalNotFound", `No open ${what} ${id}; it may have been answered already.`, { id });
  }
  open.delete(id);
  found.cancelTimeout();
  return found;
}

function ruleKey(cwd: string, agent: string, key: string): string {
  return `${cwd}\n${agent}\n${key}`;
}

/** What an action is about, in one line. */
export function subject(action: Action): string {
  switch (action.kind) {
    case "command":
      return action.command;
    case "fileChange":
      return action.changes.map((change) => change.path).join(", ");
    case "tool":
      return action.server === undefined ? action.tool : `${action.server}/${action.tool}`;
  }
}
