import type { Decision } from "@flint/protocol";
import type { AgentEvent, FlintClient } from "@flint/sdk";
import { type Ask, describeResolution } from "@flint/view";
import { notice } from "../draw/draw-blocks.ts";
import type { LineBlock } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import type { AskAnswers } from "./ask-panel.ts";

/** What answering needs of a session. */
export interface AnswerTarget {
  readonly client: FlintClient;
  run(work: () => Promise<unknown>): void;
}

/** Sends the user's answers, and tells them from those that another client has given. */
export class SentAnswers implements AskAnswers {
  readonly #target: AnswerTarget;
  readonly #answered = new Set<string>();

  constructor(target: AnswerTarget) {
    this.#target = target;
  }

  approve({ id, threadId }: Ask, decision: Decision): void {
    this.#answered.add(id);
    this.#target.run(() =>
      this.#target.client.call("approval/respond", { threadId, approvalId: id, decision }),
    );
  }

  answer({ id, threadId }: Ask, given: Readonly<Record<string, readonly string[]>>): void {
    this.#answered.add(id);
    const answers = Object.fromEntries(
      Object.entries(given).map(([key, each]) => [key, { answers: [...each] }]),
    );
    this.#target.run(() =>
      this.#target.client.call("question/respond", { threadId, questionId: id, answers }),
    );
  }

  /** What became of an ask, and where it was answered if that was not here. Undefined for other events. */
  outcome(event: AgentEvent, look: RenderOptions): LineBlock | undefined {
    const { arrow } = marksFor(look.unicode);
    if (event.type === "question/resolved") {
      const { questionId, by, client } = event.data;
      const isOther = by === "client" && !this.#answered.has(questionId);
      return isOther ? notice(arrow, "green", `answered in ${nameOf(client)}`) : undefined;
    }
    if (event.type !== "approval/resolved") return undefined;
    const { approvalId, resolution } = event.data;
    const isOther = resolution.by === "client" && !this.#answered.has(approvalId);
    const style = resolution.decision.outcome === "allow" ? "green" : "yellow";
    const who = isOther ? ` (answered in ${nameOf(resolution.client)})` : "";
    return notice(arrow, style, describeResolution(resolution) + who);
  }
}

function nameOf(client: string | undefined): string {
  return client ?? "another client";
}
