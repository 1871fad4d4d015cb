import { inputText, isKnownItem, type PlanEntry, type Resolution, type ThreadItem } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { activityOf, describeResolution, duration, escapeControls, rowOf } from "@flint/view";
import { changedSteps, commandLines, notice, noticeOf, outputLines, planLines } from "./draw-blocks.ts";
import { callLine, drawRow, statusMark } from "./draw-row.ts";
import { cutLine, indented, type Line, type LineBlock, lineOf, screenRows, span } from "./line.ts";
import { marksFor, type RenderOptions } from "./render-options.ts";
import { OutputTail } from "./streamed.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";

/** Number of lines of a running command's output that are shown below it. */
const LIVE_OUTPUT_LINES = 4;
const KEPT_LINES = 10;

/** An item in progress: what it was when it started, and what was streamed since. */
class OpenItem {
  readonly item: ThreadItem;
  startedAt: number;
  readonly output = new OutputTail(KEPT_LINES);
  progress = "";

  constructor(item: ThreadItem, startedAt: number) {
    this.item = item;
    this.startedAt = startedAt;
  }

  /** The activity of the agent, for the status line. */
  get activity(): string {
    return activityOf(this.item);
  }

  /** Its lines while it is in progress; none for what is only shown when it is complete. */
  lines(look: RenderOptions, now: number): Line[] {
    const row = rowOf(this.item);
    const mark = statusMark("inProgress", marksFor(look.unicode));
    switch (row.family) {
      case "command": {
        const elapsed = span(`  ${duration(now - this.startedAt)}`, "dim");
        const [head = []] = commandLines(row.title, mark, elapsed);
        return [head, ...outputLines(this.output.last(LIVE_OUTPUT_LINES), look)];
      }
      case "tool":
        return [callLine(row, mark), ...this.#progressLines()];
      case "thought":
        return this.#thoughtLines(look);
      case "change":
      case "search":
      case "plan":
      case "user":
      case "message":
      case "review":
      case "notice":
      case "handoff":
      case "turn":
      case "unknown":
        return [];
    }
  }

  #progressLines(): Line[] {
    const text = escapeControls(this.progress).replaceAll("\n", " ");
    return text === "" ? [] : [indented(lineOf(text, "dim"), 2)];
  }

  #thoughtLines(look: RenderOptions): Line[] {
    const last = this.output.last(2).lines.findLast((line) => line.trim() !== "");
    return last === undefined
      ? []
      : [lineOf(`${marksFor(look.unicode).thought} ${escapeControls(last)}`, "dim")];
  }
}

/** The dependencies of a timeline. */
interface TimelineOptions {
  readonly cwd: string;
  readonly look: () => RenderOptions;
  readonly now: () => number;
  /** A hint at how to see folded content. */
  readonly how?: string | undefined;
}

/** Turns the events of a turn into screen rows: final ones, and live ones below them. Writes nothing itself. */
export class Timeline {
  readonly #options: TimelineOptions;
  readonly #open = new Map<string, OpenItem>();
  /** The items that the user is being asked about, by the id of the approval or question. */
  readonly #asking = new Map<string, string>();
  /** The items that the user has already seen in full in an approval. */
  readonly #seen = new Set<string>();
  #text: { readonly itemId: string; readonly streamed: StreamedMarkdown } | undefined;
  #streamedIds = new Set<string>();
  #rows: Line[] = [];
  #plan: readonly PlanEntry[] = [];
  #started = false;
  #seenPrompt = false;
  #last: "nothing" | "text" | "line" | "block" = "nothing";
  #retrying = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** The present activity, in a few words. */
  get activity(): string {
    if (this.#asking.size > 0) return "Waiting for an answer";
    if (this.#retrying) return "Retrying";
    const open = [...this.#open.values()].at(-1);
    return open?.activity ?? (this.#started ? "Thinking" : "Starting");
  }

  /** Returns the rows that became final since the last call. */
  takeRows(): Line[] {
    this.#takeText();
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** The live rows below the final ones; at most this many. */
  liveRows(most: number): Line[] {
    const look = this.#options.look();
    const sign = marksFor(look.unicode).more;
    const text = this.#text?.streamed.openRows(look) ?? [];
    const asking = new Set(this.#asking.values());
    const shown = [...this.#open.values()].filter(({ item }) => !asking.has(item.id));
    const rows = shown.flatMap((item) => {
      const lines = item.lines(look, this.#options.now());
      return lines.map((line) => cutLine(line, look.columns - 1, sign));
    });
    const gap = rows.length > 0 && (text.length > 0 || this.#last !== "nothing") ? [[]] : [];
    const all = [...text, ...gap, ...rows];
    return most <= 0 ? [] : all.slice(-most);
  }

  /** Processes an event. */
  show(event: AgentEvent): void {
    switch (event.type) {
      case "turn/started":
        this.#started = true;
        break;
      case "item/started":
        this.#start(event.data.item);
        break;
      case "item/completed":
        this.#complete(event.data.item);
        break;
      case "item/agentMessage/delta":
        this.#messageDelta(event.data.itemId, event.data.delta, event.data.offset);
        break;
      case "item/reasoning/textDelta":
      case "item/reasoning/summaryTextDelta":
      case "item/commandExecution/outputDelta":
        this.#open.get(event.data.itemId)?.output.add(event.data.delta);
        break;
      case "item/mcpToolCall/progress":
        this.#progress(event.data.itemId, event.data.message);
        break;
      case "turn/plan/updated":
        this.#planUpdated(event.data.plan);
        break;
      case "approval/requested":
        this.#waitFor(event.data.approval.id, event.data.approval.action.itemId);
        break;
      case "approval/resolved":
        this.#resolved(event.data.approvalId, event.data.resolution);
        break;
      case "question/requested":
        this.#waitFor(event.data.request.id, event.data.request.itemId);
        break;
      case "question/resolved":
        this.#asking.delete(event.data.questionId);
        break;
      default:
        this.#notice(event);
        break;
    }
  }

  /** Adds a block of lines. */
  put(block: LineBlock): void {
    this.#endText();
    const look = this.#options.look();
    const rows = screenRows(block, look);
    const kind = rows.length === 1 ? "line" : "block";
    if (this.#last !== "nothing" && !(this.#last === "line" && kind === "line")) this.#rows.push([]);
    this.#rows.push(...rows);
    this.#last = kind;
  }

  /** Ends the timeline; open items are dropped. */
  end(): void {
    this.#endText();
    this.#open.clear();
    this.#asking.clear();
  }

  #start(item: ThreadItem): void {
    this.#retrying = false;
    if (item.type === "userMessage") return;
    this.#open.set(item.id, new OpenItem(item, this.#options.now()));
  }

  #complete(item: ThreadItem): void {
    const open = this.#open.get(item.id);
    this.#open.delete(item.id);
    if (!isKnownItem(item)) this.#putItem(item, open);
    else if (item.type === "agentMessage") this.#message(item.id, item.text);
    else if (item.type === "userMessage") this.#userMessage(inputText(item.content));
    else if (item.type === "plan" && item.entries !== undefined) this.#planUpdated(item.entries);
    else this.#putItem(item, open);
  }

  #putItem(item: ThreadItem, open: OpenItem | undefined): void {
    const { look, now, cwd, how } = this.#options;
    const elapsedMs = open === undefined ? 0 : now() - open.startedAt;
    const streamed = item.type === "commandExecution" ? open?.output.last() : undefined;
    const output = streamed === undefined || streamed.lines.length === 0 ? undefined : streamed;
    const context = { look: look(), elapsedMs, output, cwd, seen: this.#seen.has(item.id), how };
    for (const block of drawRow(rowOf(item), context)) this.put(block);
  }

  #messageDelta(itemId: string, piece: string, offset: number): void {
    if (this.#text?.itemId !== itemId) this.#beginText(itemId);
    this.#text?.streamed.add(piece, offset);
  }

  /** Shows what was not streamed of a complete message. */
  #message(itemId: string, text: string): void {
    if (this.#text?.itemId === itemId) this.#messageDelta(itemId, text, 0);
    else if (!this.#streamedIds.has(itemId) && text !== "") this.#messageDelta(itemId, text, 0);
    this.#endText();
  }

  #beginText(itemId: string): void {
    this.#endText();
    if (this.#last !== "nothing") this.#rows.push([]);
    this.#last = "text";
    this.#streamedIds.add(itemId);
    this.#text = { itemId, streamed: new StreamedMarkdown() };
  }

  #endText(): void {
    this.#text?.streamed.end();
    this.#takeText();
    this.#text = undefined;
  }

  #takeText(): void {
    this.#rows.push(...(this.#text?.streamed.takeRows(this.#options.look()) ?? []));
  }

  /** Shows input that was sent during the turn; the prompt itself is on the command line above. */
  #userMessage(text: string): void {
    if (!this.#seenPrompt) this.#seenPrompt = true;
    else this.put(notice(marksFor(this.#options.look().unicode).user, "cyan", text));
  }

  #progress(itemId: string, message: string): void {
    const open = this.#open.get(itemId);
    if (open !== undefined) open.progress = message;
  }

  #planUpdated(plan: readonly PlanEntry[]): void {
    const changed = changedSteps(this.#plan, plan);
    const isNew = changed.length === plan.length;
    this.#plan = plan;
    if (changed.length === 0) return;
    const steps = planLines(changed, this.#options.look());
    this.put({ head: isNew ? [lineOf("Plan", "bold"), ...steps] : steps, indent: 4 });
  }

  #waitFor(askId: string, itemId: string): void {
    this.#asking.set(askId, itemId);
    this.#seen.add(itemId);
  }

  #resolved(approvalId: string, resolution: Resolution): void {
    const open = this.#open.get(this.#asking.get(approvalId) ?? "");
    if (!this.#asking.delete(approvalId)) return;
    // The time that the user took to answer is not the agent's.
    if (open !== undefined) open.startedAt = this.#options.now();
    const marks = marksFor(this.#options.look().unicode);
    const style = resolution.decision.outcome === "allow" ? "green" : "yellow";
    this.put(notice(marks.arrow, style, describeResolution(resolution)));
  }

  #notice(event: AgentEvent): void {
    if (event.type === "error") this.#retrying = event.data.willRetry;
    const block = noticeOf(event, this.#options.look());
    if (block !== undefined) this.put(block);
  }
}
