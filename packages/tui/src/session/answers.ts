import type { Decision } from "@flint/protocol";
import type { AgentEvent, FlintClient } from "@flint/sdk";
import { type Ask, describeResolution } from "@flint/view";
import { notice } from "../draw/draw-blocks.ts";
import type { LineBlock } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import type { AskAnswers } from "./ask-panel.ts";

/** Dependencies of answering on a session. */
export interface AnswerTarget {
  readonly client: FlintClient;
  run(work: () => Promise<unknown>): void;
}

/** The outcome of an ask. */
export interface Outcome {
  readonly askId: string;
  readonly kind: Ask["kind"];
  /** `allowed once`, `answered` and the like. */
  readonly text: string;
  readonly isDeclined: boolean;
  /** The client that answered it, if that was another one. */
  readonly elsewhere: string | undefined;
}

/** An answer of the user. */
interface SentAnswer {
  /** True if it is the one that counts; undefined until the server has decided. */
  isFirst?: boolean;
  /** Shows what became of the ask, once that is known. */
  waiting?: () => void;
}

/** Sends the user's answers, and tells them from those that another client has given. */
export class SentAnswers implements AskAnswers {
  readonly #target: AnswerTarget;
  readonly #sent = new Map<string, SentAnswer>();

  constructor(target: AnswerTarget) {
    this.#target = target;
  }

  approve({ id, threadId }: Ask, decision: Decision): void {
    this.#send(id, () =>
      this.#target.client.call("approval/respond", { threadId, approvalId: id, decision }),
    );
  }

  answer({ id, threadId }: Ask, given: Readonly<Record<string, readonly string[]>>): void {
    const answers = Object.fromEntries(
      Object.entries(given).map(([key, each]) => [key, { answers: [...each] }]),
    );
    this.#send(id, () => this.#target.client.call("question/respond", { threadId, questionId: id, answers }));
  }

  /**
   * Calls `then` with what became of an ask, if the event says so: at once, or, while an answer of the user is on its
   * way, as soon as it is known whether it was the first.
   */
  whenResolved(event: AgentEvent, then: (outcome: Outcome) => void): void {
    const resolved = resolvedBy(event);
    if (resolved === undefined) return;
    const { client, ...outcome } = resolved;
    const sent = this.#sent.get(outcome.askId);
    const show = () => then({ ...outcome, elsewhere: sent?.isFirst === true ? undefined : client });
    if (sent === undefined || sent.isFirst !== undefined) show();
    else {
      const { waiting } = sent;
      sent.waiting = () => {
        waiting?.();
        show();
      };
    }
  }

  #send(id: string, call: () => Promise<unknown>): void {
    const sent: SentAnswer = {};
    this.#sent.set(id, sent);
    this.#target.run(async () => {
      try {
        await call();
        sent.isFirst = true;
      } catch (thrown) {
        sent.isFirst = false;
        // Expected: another client was faster. Then the outcome says so.
        if (sent.waiting === undefined) throw thrown;
      } finally {
        sent.waiting?.();
      }
    });
  }
}

/** Shows an outcome in its thread. Nothing is shown for a question that was answered here. */
export function outcomeNotice(outcome: Outcome, look: RenderOptions): LineBlock | undefined {
  const { kind, text, isDeclined, elsewhere } = outcome;
  if (kind === "question" && elsewhere === undefined) return undefined;
  const where = elsewhere === undefined ? "" : ` (answered in ${elsewhere})`;
  const words = kind === "question" ? `answered in ${elsewhere}` : text + where;
  return notice(marksFor(look.unicode).arrow, isDeclined ? "yellow" : "green", words);
}

/** Returns the outcome of an ask in an event, with the client that answered it, if one did. */
function resolvedBy(
  event: AgentEvent,
): (Omit<Outcome, "elsewhere"> & { client: string | undefined }) | undefined {
  if (event.type === "question/resolved") {
    const { questionId, by, client } = event.data;
    if (by !== "client") return undefined;
    return {
      ...{ askId: questionId, kind: "question", text: "answered", isDeclined: false },
      client: nameOf(client),
    };
  }
  if (event.type !== "approval/resolved") return undefined;
  const { approvalId, resolution } = event.data;
  return {
    askId: approvalId,
    kind: "approval",
    text: describeResolution(resolution),
    isDeclined: resolution.decision.outcome !== "allow",
    client: resolution.by === "client" ? nameOf(resolution.client) : undefined,
  };
}

function nameOf(client: string | undefined): string {
  return client ?? "another client";
}
