import type { AgentEvent } from "@flint/sdk";
import { visible } from "@flint/view";
import { type Style, span } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import type { Block } from "./wrap.ts";

type Resolved = Extract<AgentEvent, { type: "approval/resolved" }>["data"]["resolution"];
type AnsweredBy = Resolved["by"];

/** What an event says about the turn itself rather than about one of its items, if it is worth a line. */
export function noticeOf(event: AgentEvent, look: Look): Block | undefined {
  const marks = marksFor(look.unicode);
  switch (event.type) {
    case "error": {
      const { error, willRetry } = event.data;
      if (willRetry) return notice(marks.again, "yellow", `${error.message} (trying again)`);
      return notice(marks.failed, "red", error.message);
    }
    case "warning":
      return notice(marks.warning, "yellow", event.data.message);
    case "model/rerouted": {
      const { fromModel, toModel, reason } = event.data;
      return notice(marks.arrow, "yellow", `${toModel} works instead of ${fromModel}: ${reason}`);
    }
    default:
      return undefined;
  }
}

/** One line with a mark in front. */
export function notice(mark: string, style: Style, text: string): Block {
  return { head: [[span(mark, style), span(` ${visible(text).replaceAll("\n", " ")}`)]], indent: 2 };
}

/** How an approval ended, in a few words. */
export function resolutionText({ decision, by }: Resolved): string {
  switch (decision.outcome) {
    case "allow":
      return `allowed ${SCOPES[decision.scope]}`;
    case "deny":
      return `declined${DENIED_BY[by]}`;
    case "cancel":
      return `declined, and the turn is interrupted`;
  }
}

const SCOPES = { once: "once", session: "for this thread", always: "always" } as const;

const DENIED_BY: Readonly<Record<AnsweredBy, string>> = {
  client: "",
  rule: " by a rule",
  timeout: ": nobody answered in time",
  interrupt: ": the turn was interrupted",
  turnEnded: ": the turn ended",
  serverStopped: ": the server stopped",
};
