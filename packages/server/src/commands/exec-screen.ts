import { type AgentEvent, describeEvent } from "@flint/sdk";
import { visible } from "../visible.ts";

/** Shows a turn as plain lines: what the agent says, the commands it runs, the files it changes. */
export class ExecScreen {
  readonly #write: (text: string) => void;
  #atLineStart = true;
  #streamed = new Set<string>();

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case "item/agentMessage/delta":
      case "item/commandExecution/outputDelta":
        this.#streamed.add(event.data.itemId);
        this.#text(event.data.delta);
        return;
      case "item/started":
        this.#started(event);
        return;
      case "item/completed":
        this.#completed(event.data.item);
        return;
      case "turn/plan/updated":
        for (const { step, status } of event.data.plan) this.#line(`  [${MARKS[status]}] ${step}`);
        return;
      case "error":
        this.#line(`error: ${event.data.error.message}${event.data.willRetry ? " (trying again)" : ""}`);
        return;
      case "warning":
        this.#line(`warning: ${event.data.message}`);
        return;
      default:
        return;
    }
  }

  /** Says the last word on a line of its own. */
  end(text: string): void {
    this.#line(text);
  }

  /** A command as it would be typed; what has no picture of its own here, known or not, as one line. */
  #started(event: Extract<AgentEvent, { type: "item/started" }>): void {
    const { item } = event.data;
    if (item.type === "commandExecution" && "command" in item) this.#line(`$ ${item.command}`);
    else if (!SHOWN_WHEN_COMPLETE.has(item.type)) this.#line(describeEvent(event) ?? "");
  }

  #completed(item: StartedItem): void {
    if (item.type === "agentMessage" && "text" in item) {
      if (!this.#streamed.has(item.id)) this.#text(item.text);
      this.#line("");
    } else if (item.type === "commandExecution" && "command" in item) {
      const how = item.exitCode === undefined ? item.status : `exit ${item.exitCode}`;
      this.#line(`(${how})`);
    } else if (item.type === "fileChange" && "changes" in item) {
      for (const change of item.changes)
        this.#line(`${change.kind} ${change.path} (${item.status})\n${change.diff}`);
    }
  }

  #line(text: string): void {
    if (!this.#atLineStart) this.#text("\n");
    if (text !== "") this.#text(`${text}\n`);
  }

  #text(text: string): void {
    if (text === "") return;
    this.#write(visible(text));
    this.#atLineStart = text.endsWith("\n");
  }
}

type StartedItem = Extract<AgentEvent, { type: "item/started" }>["data"]["item"];

const SHOWN_WHEN_COMPLETE = new Set(["userMessage", "agentMessage", "fileChange", "reasoning", "plan"]);

const MARKS = { pending: " ", inProgress: ">", completed: "x", failed: "!" } as const;
