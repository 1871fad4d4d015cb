import type { AgentEvent } from "@flint/sdk";
import { describeError, describeReroute, escapeControls } from "@flint/view";
import { type Style, span } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import type { LineBlock } from "./wrap.ts";

/** What an event says about the turn itself rather than about one of its items; undefined if nothing. */
export function noticeOf(event: AgentEvent, look: Look): LineBlock | undefined {
  const marks = marksFor(look.unicode);
  switch (event.type) {
    case "error": {
      const { error, willRetry } = event.data;
      const [mark, style] = willRetry ? ([marks.again, "yellow"] as const) : ([marks.failed, "red"] as const);
      return notice(mark, style, describeError(error, willRetry));
    }
    case "warning":
      return notice(marks.warning, "yellow", event.data.message);
    case "model/rerouted":
      return notice(marks.arrow, "yellow", describeReroute(event.data));
    default:
      return undefined;
  }
}

/** One line with a mark in front. */
export function notice(mark: string, style: Style, text: string): LineBlock {
  return { head: [[span(mark, style), span(` ${escapeControls(text).replaceAll("\n", " ")}`)]], indent: 2 };
}
