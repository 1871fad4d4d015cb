import type { DeclinedAction } from "@flint/protocol";
import type { ApprovalReply, ApprovalRequest, OnApproval } from "@flint/sdk";
import type { RenderOptions } from "@flint/tui/draw";
import { lineOf, span } from "@flint/tui/draw";
import type { Choice } from "@flint/tui/terminal";
import { approvalPrompt, escapeControls, escapeExact, oneLine } from "@flint/view";
import type { Asker } from "./asker.ts";

/** Dependencies of asking for approvals. */
export interface ApprovalOptions {
  /** Undefined if no user can be asked. */
  readonly asker: Asker | undefined;
  readonly look: () => RenderOptions;
  readonly cwd: string;
}

type Answer = ApprovalReply | "explain";

/** The reason and advice for what was declined in an unattended run. */
const UNATTENDED =
  "No one was there to approve it. Run Flint in a terminal, allow it with --policy FILE, or turn approvals off with --approval never.";
const DECLINED: ApprovalReply = { decision: "decline", message: "The user declined." };

/** Asks the user to approve what the agent wants to do, and declines it in an unattended run. */
export class Approvals {
  readonly #options: ApprovalOptions;

  constructor(options: ApprovalOptions) {
    this.#options = options;
  }

  /** Reports whether no user can be asked. */
  get isUnattended(): boolean {
    return this.#options.asker === undefined;
  }

  readonly decide: OnApproval = async (request, { signal }) => {
    const { asker } = this.#options;
    if (asker === undefined) return { decision: "decline", message: UNATTENDED };
    return asker.exclusively(() => this.#ask(asker, request, signal));
  };

  async #ask(asker: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalReply> {
    const { look, cwd } = this.#options;
    // Loaded with the first question: most runs ask none.
    const { drawApproval } = await import("@flint/tui/draw");
    const prompt = approvalPrompt(request.action, request.suggestions);
    const choices = prompt.choices.map(({ key, label, help, decision }): Choice<Answer> => {
      const value = decision.outcome === "deny" ? DECLINED : { decision };
      return { key, label: escapeExact(label), help: escapeExact(help), value };
    });
    const answer = await asker.choose<Answer>(
      {
        about: drawApproval(prompt, look(), cwd),
        ask: "Allow it?",
        choices: [...choices, EXPLAIN],
        otherwise: DECLINED,
      },
      signal,
    );
    if (answer === "explain") return this.#explain(asker, signal);
    // Withdrawn: the reply is not sent any more.
    return answer ?? DECLINED;
  }

  /** Declines with a message that tells the agent what to do instead. */
  async #explain(asker: Asker, signal: AbortSignal): Promise<ApprovalReply> {
    asker.put({
      head: [
        lineOf("What should the agent do instead? Enter sends, Esc declines without a message.", "bold"),
      ],
    });
    const message = (await asker.type(false, signal))?.trim();
    if (message === undefined || message === "") return DECLINED;
    asker.put({
      head: [[span("> ", "cyan"), span(escapeControls(message).replaceAll("\n", " "))]],
      indent: 2,
    });
    return { decision: "decline", message: `The user declined: ${message}` };
  }
}

const EXPLAIN: Choice<Answer> = {
  key: "N",
  label: "no, with reason",
  value: "explain",
  help: "Decline with a message to the agent",
};

/**
 * Returns the actions that were declined without the user at the terminal: by a rule, a setting, a time
 * limit, or because no one was there.
 */
export function declinedWithoutPrompt(
  declined: readonly DeclinedAction[],
  isUnattended: boolean,
): readonly DeclinedAction[] {
  return declined.filter(({ by }) => isUnattended || by !== "client");
}

/** The list of what was declined, for stderr; empty if nothing was. The same thing is listed once. */
export function declinedReport(declined: readonly DeclinedAction[]): string {
  if (declined.length === 0) return "";
  const lines = new Set(declined.map(({ what, reason }) => `  ${oneLine(what)}: ${oneLine(reason)}`));
  const count = lines.size === 1 ? "An action was declined" : `${lines.size} actions were declined`;
  return `flint: ${count}:\n${[...lines].join("\n")}\n`;
}
