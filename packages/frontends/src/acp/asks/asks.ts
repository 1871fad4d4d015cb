import { type Approval, type Decision, grantKeys, type QuestionRequest } from "@flint/protocol";
import { RemoteError } from "@flint/rpc";
import type { Client } from "../../shared/frontend.ts";
import { answerOf } from "../core.ts";
import { decisionOf, remembersNo } from "./permission.ts";
import type { ClientRequest, QuestionAnswer } from "./questions.ts";

/** What is open at the client. */
interface Open {
  readonly settled: AbortController;
  /** The number of the request, by which it is taken back. */
  readonly id: number;
}

/** Gives numbers to the requests of one client. */
export class RequestNumbers {
  #next = 0;

  take(): number {
    this.#next += 1;
    return this.#next - 1;
  }
}

/**
 * What the client of a session is asked. Whoever answers first, here or elsewhere, has answered; then the others are told
 * that nobody waits for them any more.
 */
export class Asks {
  readonly #client: Client;
  readonly #threadId: string;
  readonly #numbers: RequestNumbers;
  readonly #open = new Map<string, Open>();
  /** What the user never wants in this session, by exact thing. */
  readonly #refused: Set<string>;

  constructor(client: Client, threadId: string, numbers: RequestNumbers, before?: Asks) {
    this.#refused = before === undefined ? new Set() : before.#refused;
    this.#client = client;
    this.#threadId = threadId;
    this.#numbers = numbers;
  }

  get isWaiting(): boolean {
    return this.#open.size > 0;
  }

  /** Asks whether the agent may act. */
  async approval(approval: Approval, request: Omit<ClientRequest<Decision>, "read">): Promise<void> {
    const keys = grantKeys(approval.action);
    if (keys.length > 0 && keys.every((key) => this.#refused.has(key))) {
      await this.#decide(approval.id, {
        outcome: "deny",
        scope: "once",
        message: "The user never wants this.",
      });
      return;
    }
    const answer = await this.#ask(approval.id, request);
    if (answer.kind === "given") {
      if (remembersNo(answer.value)) for (const key of keys) this.#refused.add(key);
      await this.#decide(approval.id, decisionOf(answer.value, approval.suggestions));
    } else if (answer.kind === "cannot") {
      const message = `The client cannot answer: ${answer.reason}`;
      await this.#decide(approval.id, { outcome: "deny", scope: "once", message });
    }
  }

  /** Asks what the agent wants to know, one request after the other. */
  async question(request: QuestionRequest, steps: readonly ClientRequest<QuestionAnswer>[]): Promise<void> {
    const answers: Record<string, { answers: string[] }> = {};
    for (const step of steps) {
      const answer = await this.#ask(request.id, step);
      if (answer.kind === "settled" || answer.kind === "leftToOthers") return;
      const given = answer.kind === "given" ? step.read(answer.value) : undefined;
      if (given === undefined) {
        await this.#answer(request.id, {});
        return;
      }
      Object.assign(answers, given);
    }
    await this.#answer(request.id, answers);
  }

  /** Somebody has answered, or the turn has ended: nobody waits for the client any more. */
  settle(key: string): void {
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (open === undefined) return;
    this.#client.notify("$/cancel_request", { requestId: open.id });
    open.settled.abort(new Error("answered elsewhere"));
  }

  settleAll(): void {
    for (const key of [...this.#open.keys()]) this.settle(key);
  }

  async #ask(key: string, { method, params }: Omit<ClientRequest<unknown>, "read">): Promise<Asked> {
    if (this.#open.has(key)) return { kind: "leftToOthers" };
    const open = { settled: new AbortController(), id: this.#numbers.take() };
    this.#open.set(key, open);
    // Expected: a client that cannot answer, one that is gone, and an answer from elsewhere.
    try {
      const value = await this.#client.request(method, params, { signal: open.settled.signal, id: open.id });
      return this.#open.delete(key) ? { kind: "given", value } : { kind: "settled" };
    } catch (error) {
      if (!this.#open.delete(key) || !(error instanceof RemoteError)) return { kind: "settled" };
      if (!this.#client.isOnlySubscriber(this.#threadId)) return { kind: "leftToOthers" };
      return { kind: "cannot", reason: error.message };
    }
  }

  async #decide(approvalId: string, decision: Decision): Promise<void> {
    const threadId = this.#threadId;
    await tolerant(answerOf(this.#client, "approval/respond", { threadId, approvalId, decision }));
  }

  async #answer(questionId: string, answers: Record<string, { answers: string[] }>): Promise<void> {
    const threadId = this.#threadId;
    await tolerant(answerOf(this.#client, "question/respond", { threadId, questionId, answers }));
  }
}

type Asked =
  | { readonly kind: "given"; readonly value: unknown }
  | { readonly kind: "cannot"; readonly reason: string }
  | { readonly kind: "settled" | "leftToOthers" };

/** It was answered or ended in the meantime, or cannot be stored; then it stays open, and its time limit ends it. */
async function tolerant(answered: Promise<unknown>): Promise<void> {
  await answered.catch(() => undefined);
}
