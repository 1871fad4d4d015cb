import type { ThreadItem } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import {
  type Block,
  count,
  describeError,
  describeItem,
  describeReroute,
  escapeControls,
  escapeExact,
  type Row,
  rowOf,
  size,
  spanText,
} from "@flint/view";
import type { TurnView, ViewEnd } from "./turn-view.ts";

/** Half of a character or of a line break: the next piece decides how it is shown. */
const UNDECIDED = /[\ud800-\udbff\r]$/;

/** Prints a turn as plain lines: the agent's messages, its commands with their output, and the files it changes. */
export class PlainView implements TurnView {
  readonly #write: (text: string) => void;
  #atLineStart = true;
  /** Number of characters of each item that were streamed. */
  readonly #streamed = new Map<string, number>();
  #pending = "";

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case "item/agentMessage/delta":
      case "item/commandExecution/outputDelta":
        this.#stream(event.data);
        return;
      case "item/started":
        this.#started(event.data.item);
        return;
      case "item/completed":
        this.#completed(event.data.item);
        return;
      case "turn/plan/updated":
        for (const { step, status } of event.data.plan) this.#line(`  [${MARKS[status]}] ${step}`);
        return;
      case "error":
        this.#line(`error: ${describeError(event.data.error, event.data.willRetry)}`);
        return;
      case "warning":
        this.#line(`warning: ${event.data.message}`);
        return;
      case "model/rerouted":
        this.#line(`warning: ${describeReroute(event.data)}`);
        return;
      default:
        return;
    }
  }

  say(text: string): void {
    this.#line(text);
  }

  end({ status, error, failedCalls = 0 }: Pick<ViewEnd, "status" | "error" | "failedCalls">): void {
    this.#line("");
    if (failedCalls > 0) this.#line(`(${count(failedCalls, "tool call")} failed)`);
    if (status === "failed") this.#line(`The turn failed: ${error ?? "the agent gave no reason"}`);
    else if (status !== "completed") this.#line(`The turn was ${status}.`);
  }

  close(): void {
    this.#line("");
  }

  /** A command as it would be typed; anything else as the line of an event log. */
  #started(item: ThreadItem): void {
    const row = rowOf(item);
    if (row.family === "command") this.#line(`$ ${escapeExact(spanText(row.title))}`);
    else if (row.family !== "change") this.#line(describeItem(item, "started") ?? "");
  }

  #completed(item: ThreadItem): void {
    const row = rowOf(item);
    switch (row.family) {
      case "message":
        if (!this.#streamed.has(item.id)) for (const block of row.body) this.#text(blockText(block));
        this.#line("");
        return;
      case "command":
        this.#commandEnd(row, this.#streamed.get(item.id) ?? 0);
        return;
      case "change":
        for (const block of row.body) this.#change(block, row.outcome ?? row.status);
        return;
      case "tool":
        for (const block of row.body) if (block.kind === "error") this.#line(`error: ${block.text}`);
        return;
      case "notice":
        this.#line(describeItem(item, "completed") ?? "");
        return;
      case "unknown":
        // Items of unknown types may carry an error of their own.
        if ("error" in item && typeof item.error === "string") this.#line(`error: ${item.error}`);
        return;
      case "user":
      case "thought":
      case "search":
      case "plan":
      case "review":
        return;
    }
  }

  #stream({ itemId, delta, offset }: { itemId: string; delta: string; offset: number }): void {
    this.#streamed.set(itemId, Math.max(this.#streamed.get(itemId) ?? 0, offset + delta.length));
    this.#text(delta);
  }

  /** Output that was not streamed, as of a command that ended at once, is printed here; so is the rest of it. */
  #commandEnd({ outcome, status, body }: Row, streamed: number): void {
    for (const block of body) {
      if (block.kind !== "output") continue;
      if (streamed === 0 || block.omittedBytes === 0) this.#text(block.text.slice(streamed));
      if (block.omittedBytes > 0) this.#line(`... ${size(block.omittedBytes)} omitted`);
    }
    this.#line(`(${outcome ?? status})`);
  }

  #change(block: Block, outcome: string): void {
    if (block.kind !== "diff") return;
    this.#line(`${block.change} ${block.path} (${outcome})\n${blockText(block)}`);
  }

  #line(text: string): void {
    this.#flushPending();
    if (!this.#atLineStart) this.#text("\n");
    if (text !== "") this.#text(text.endsWith("\n") ? text : `${text}\n`);
  }

  #text(piece: string): void {
    const text = this.#pending + piece;
    this.#pending = UNDECIDED.test(text) ? text.slice(-1) : "";
    this.#put(this.#pending === "" ? text : text.slice(0, -1));
  }

  #flushPending(): void {
    const pending = this.#pending;
    this.#pending = "";
    this.#put(pending);
  }

  #put(text: string): void {
    if (text === "") return;
    this.#write(escapeControls(text));
    this.#atLineStart = text.endsWith("\n");
  }
}

function blockText(block: Block): string {
  if (block.kind === "diff") return block.lines.map(({ text }) => text).join("\n");
  return "text" in block ? block.text : "";
}

const MARKS = { pending: " ", inProgress: ">", completed: "x", failed: "!" } as const;
