import type { ApprovalReply, ApprovalRequest, OnApproval } from "@flint/sdk";
import { exact, visible } from "@flint/view";
import { approvalBlock } from "../../../screen/approval-block.ts";
import { lineOf, span } from "../../../screen/line.ts";
import type { Look } from "../../../screen/look.ts";
import type { Choice } from "../../../screen/prompt.ts";
import type { Asker } from "./asker.ts";

/** What decisions are made with. */
export interface ApprovalOptions {
  /** Undefined where nobody can be asked. */
  readonly asker: Asker | undefined;
  readonly look: () => Look;
  readonly cwd: string;
}

type Answer = ApprovalReply | "explain";

/** Why something was declined in an unattended run, and what to do about it. */
export const UNATTENDED =
  "No one was there to approve it. Run in a terminal, allow it with --policy FILE, or turn approvals off with --approval never.";
const NO: ApprovalReply = { decision: "decline", message: "The user said no." };

/** Lets the user decide what the agent may do, and declines where no user is. */
export class Approvals {
  readonly #options: ApprovalOptions;
  #declinedUnattended = false;

  constructor(options: ApprovalOptions) {
    this.#options = options;
  }

  /** Whether something was declined because no user could be asked. */
  get declinedUnattended(): boolean {
    return this.#declinedUnattended;
  }

  readonly decide: OnApproval = async (request, { signal }) => {
    const { asker } = this.#options;
    if (asker === undefined) {
      this.#declinedUnattended = true;
      return { decision: "decline", message: UNATTENDED };
    }
    return asker.exclusively(() => this.#ask(asker, request, signal));
  };

  async #ask(asker: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalReply> {
    const { look, cwd } = this.#options;
    const answer = await asker.choose<Answer>(
      {
        about: approvalBlock(request.action, look(), cwd),
        ask: "Allow it?",
        choices: choicesFor(request),
        otherwise: NO,
      },
      signal,
    );
    if (answer === "explain") return this.#explain(asker, signal);
    // Taken back: the answer is not sent any more.
    return answer ?? NO;
  }

  /** A no with a word to the agent about what to do instead. */
  async #explain(asker: Asker, signal: AbortSignal): Promise<ApprovalReply> {
    asker.put({ head: [lineOf("What should it do instead? Enter sends it, Esc is a plain no.", "bold")] });
    const said = (await asker.type(false, signal))?.trim();
    if (said === undefined || said === "") return NO;
    asker.put({ head: [[span("> ", "cyan"), span(visible(said).replaceAll("\n", " "))]], indent: 2 });
    return { decision: "decline", message: `The user said no: ${said}` };
  }
}

function choicesFor(request: ApprovalRequest): Choice<Answer>[] {
  return [
    { key: "y", label: "once", value: "accept", help: "yes, this one time" },
    {
      key: "s",
      label: "this thread",
      value: "acceptForSession",
      help: "yes, and exactly this again in this thread",
    },
    { key: "a", label: "always", value: "acceptAlways", help: "yes, and exactly this always in this folder" },
    ...suggestedChoices(request),
    { key: "n", label: "no", value: NO, help: "no; the agent is told so and goes on" },
    { key: "N", label: "no, and why", value: "explain", help: "no, with a message to the agent" },
  ];
}

/** A rule that covers more than exactly this, in the words of the command. */
function suggestedChoices(request: ApprovalRequest): Choice<Answer>[] {
  const prefix = (request.suggestions ?? []).find(({ match }) => match.type === "prefix");
  if (prefix === undefined || prefix.match.type !== "prefix") return [];
  const words = exact(prefix.match.words.join(" "));
  return [
    {
      key: "p",
      label: `always ${words}`,
      value: { decision: { outcome: "allow", scope: "always", rule: prefix.id } },
      help: `yes, and every command that begins with: ${words}`,
    },
  ];
}
