import type { Action } from "@flint/protocol";
import type { AgentEvent, FlintClient } from "@flint/sdk";
import { describeAction } from "@flint/view";
import type { Interruption } from "../decide/outcomes.ts";

/** The approvals that a turn gives without the user, and the time for which its questions wait for one. */
export interface AskWatchOptions {
  readonly askMs: number;
  readonly accepts: boolean;
  readonly signal: AbortSignal;
}

type Unanswered = Extract<Interruption, { kind: "asks" }>;

/** Watches for unanswered questions: the turn is interrupted, and the question becomes one of the task. */
export class AskWatch {
  readonly #client: FlintClient;
  readonly #askMs: number;
  readonly #accepts: boolean;
  readonly #stop = new AbortController();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #unsubscribe: () => void;
  readonly signal: AbortSignal;
  unanswered: Unanswered | undefined;

  constructor(client: FlintClient, threadId: string, { askMs, accepts, signal }: AskWatchOptions) {
    this.#client = client;
    this.#askMs = askMs;
    this.#accepts = accepts;
    this.signal = AbortSignal.any([signal, this.#stop.signal]);
    this.#unsubscribe = client.subscribe({
      threadId,
      event: (event) => this.#onEvent(event, threadId),
      ended: () => {},
    });
  }

  end(): void {
    this.#unsubscribe();
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #onEvent(event: AgentEvent, threadId: string): void {
    if (event.type === "approval/requested") {
      const { approval } = event.data;
      const message = `Approve: ${describeAction(approval.action)}`;
      if (isTakeOver(approval.action)) this.#respond(threadId, approval.id, "deny");
      else if (this.#accepts && staysInside(approval.action)) this.#respond(threadId, approval.id, "allow");
      else
        this.#wait(approval.id, { kind: "asks", reason: "approval", message, request: approval, threadId });
    } else if (event.type === "question/requested") {
      const { request } = event.data;
      const message = request.questions.map(({ question }) => question).join("\n");
      this.#wait(request.id, { kind: "asks", reason: "question", message, request, threadId });
    } else if (event.type === "approval/resolved") clearTimeout(this.#timers.get(event.data.approvalId));
    else if (event.type === "question/resolved") clearTimeout(this.#timers.get(event.data.questionId));
  }

  /** Answers like a client; a client that was faster has answered already. */
  #respond(threadId: string, approvalId: string, outcome: "allow" | "deny"): void {
    const decision = { outcome, scope: "once" } as const;
    void this.#client.call("approval/respond", { threadId, approvalId, decision }).catch(() => undefined);
  }

  #wait(id: string, ask: Unanswered): void {
    const giveUp = () => {
      this.unanswered = ask;
      this.#stop.abort();
    };
    this.#timers.set(id, setTimeout(giveUp, this.#askMs));
  }
}

/**
 * Reports whether commits would go to the branches of the user. Declined commits are kept, and the task takes
 * them from there.
 */
function isTakeOver(action: Action): boolean {
  return action.kind === "tool" && action.tool === "git" && action.needs?.git === true;
}

/** Reports whether an action changes nothing outside of the sandbox. */
function staysInside({ needs = {} }: Action): boolean {
  return needs.unconfined !== true && needs.git !== true && (needs.write ?? []).length === 0;
}
