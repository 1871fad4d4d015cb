import { type AgentEvent, describeEvent } from "@flint/sdk";
import { exact, visible } from "@flint/view";
import { size } from "../../../screen/amounts.ts";
import type { ExecView, ViewEnd } from "./turn-view.ts";

/** Half of a character, or of a line end: what follows decides how it is shown. */
const UNDECIDED = /[\ud800-\udbff\r]$/;

/** Shows a turn as plain lines: what the agent says, the commands it runs, the files it changes. */
export class ExecScreen implements ExecView {
  readonly #write: (text: string) => void;
  #atLineStart = true;
  #streamed = new Set<string>();
  #held = "";

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
      case "model/rerouted":
        this.#line(`warning: ${describeEvent(event) ?? ""}`);
        return;
      default:
        return;
    }
  }

  say(text: string): void {
    this.#line(text);
  }

  end({ status, error }: Pick<ViewEnd, "status" | "error">): void {
    this.#line("");
    if (status === "failed") this.#line(`The turn failed: ${error ?? "the agent did not say why"}`);
    else if (status !== "completed") this.#line(`The turn was ${status}.`);
  }

  close(): void {
    this.#line("");
  }

  /** A command as it would be typed; what has no picture of its own here, known or not, as one line. */
  #started(event: Extract<AgentEvent, { type: "item/started" }>): void {
    const { item } = event.data;
    if (item.type === "commandExecution" && "command" in item) this.#line(`$ ${exact(item.command)}`);
    else if (!SHOWN_WHEN_COMPLETE.has(item.type)) this.#line(describeEvent(event) ?? "");
  }

  #completed(item: StartedItem): void {
    if (item.type === "agentMessage" && "text" in item) {
      if (!this.#streamed.has(item.id)) this.#text(String(item.text));
      this.#line("");
    } else if (item.type === "commandExecution" && "command" in item) {
      const omitted = item.omittedOutputBytes ?? 0;
      if (omitted > 0) this.#line(`... ${size(omitted)} left out`);
      const how = item.exitCode === undefined ? item.status : `exit ${item.exitCode}`;
      this.#line(`(${how})`);
    } else if (item.type === "fileChange" && "changes" in item) {
      for (const change of item.changes)
        this.#line(`${change.kind} ${change.path} (${item.status})\n${change.diff}`);
    } else if ("error" in item && typeof item.error === "string") {
      this.#line(`error: ${item.error}`);
    }
  }

  #line(text: string): void {
    this.#endHeld();
    if (!this.#atLineStart) this.#text("\n");
    if (text !== "") this.#text(text.endsWith("\n") ? text : `${text}\n`);
  }

  #text(piece: string): void {
    const text = this.#held + piece;
    this.#held = UNDECIDED.test(text) ? text.slice(-1) : "";
    this.#put(this.#held === "" ? text : text.slice(0, -1));
  }

  #endHeld(): void {
    const held = this.#held;
    this.#held = "";
    this.#put(held);
  }

  #put(text: string): void {
    if (text === "") return;
    this.#write(visible(text));
    this.#atLineStart = text.endsWith("\n");
  }
}

type StartedItem = Extract<AgentEvent, { type: "item/started" }>["data"]["item"];

const SHOWN_WHEN_COMPLETE = new Set(["userMessage", "agentMessage", "fileChange", "reasoning", "plan"]);

const MARKS = { pending: " ", inProgress: ">", completed: "x", failed: "!" } as const;
