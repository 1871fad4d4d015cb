import { isKnownItem, type KnownItem, type ThreadItem } from "@flint/protocol";
import { visible } from "@flint/view";
import { duration } from "./amounts.ts";
import { callSpans, commandLines, outputLines, statusMark } from "./item-blocks.ts";
import { indented, type Line, lineOf, span } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import { OutputTail } from "./streamed.ts";

/** While a command runs, this much of its output is shown below it. */
const LIVE_OUTPUT_LINES = 4;
const KEPT_LINES = 10;

/** An item that is being worked on: what it was when it began, and what has streamed in since. */
export class OpenItem {
  readonly item: ThreadItem;
  readonly startedAt: number;
  readonly output = new OutputTail(KEPT_LINES);
  progress = "";

  constructor(item: ThreadItem, startedAt: number) {
    this.item = item;
    this.startedAt = startedAt;
  }

  /** What is going on, for the last line of the screen. */
  get activity(): string {
    const { item } = this;
    if (!isKnownItem(item)) return "Working";
    return ACTIVITIES[item.type];
  }

  /** How it looks while it goes on. What is only shown when it is complete gives nothing. */
  lines(look: Look, now: number): Line[] {
    const { item } = this;
    if (!isKnownItem(item)) return [];
    const mark = statusMark("inProgress", marksFor(look.unicode));
    switch (item.type) {
      case "commandExecution": {
        const [head = []] = commandLines(
          item.command,
          mark,
          span(`  ${duration(now - this.startedAt)}`, "dim"),
        );
        return [head, ...outputLines(this.output.last(LIVE_OUTPUT_LINES), look)];
      }
      case "mcpToolCall":
        return [callSpans({ ...item, name: `${item.server}.${item.tool}` }, mark), ...this.#progressLines()];
      case "toolCall":
        return [callSpans({ ...item, name: item.title ?? item.tool }, mark), ...this.#progressLines()];
      case "reasoning":
        return this.#thoughtLines(look);
      case "fileChange":
      case "webSearch":
      case "plan":
      case "userMessage":
      case "agentMessage":
      case "enteredReviewMode":
      case "exitedReviewMode":
      case "contextCompaction":
      case "agentHandoff":
        return [];
    }
  }

  #progressLines(): Line[] {
    const text = visible(this.progress).replaceAll("\n", " ");
    return text === "" ? [] : [indented(lineOf(text, "dim"), 2)];
  }

  #thoughtLines(look: Look): Line[] {
    const last = this.output.last(2).lines.findLast((line) => line.trim() !== "");
    return last === undefined ? [] : [lineOf(`${marksFor(look.unicode).thought} ${visible(last)}`, "dim")];
  }
}

const ACTIVITIES: Readonly<Record<KnownItem["type"], string>> = {
  commandExecution: "Running a command",
  fileChange: "Changing files",
  mcpToolCall: "Calling a tool",
  toolCall: "Calling a tool",
  webSearch: "Searching the web",
  reasoning: "Thinking",
  agentMessage: "Writing",
  plan: "Planning",
  userMessage: "Working",
  enteredReviewMode: "Reviewing",
  exitedReviewMode: "Reviewing",
  contextCompaction: "Making room in the conversation",
  agentHandoff: "Handing over",
};
