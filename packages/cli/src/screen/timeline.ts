import { inputText, isKnownItem, type PlanEntry, type Resolution, type ThreadItem } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { describeResolution, rowOf } from "@flint/view";
import { changedSteps, planLines } from "./draw-blocks.ts";
import { drawRow } from "./draw-row.ts";
import { type Line, lineOf } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import { notice, noticeOf } from "./notice.ts";
import { OpenItem } from "./open-item.ts";
import { StreamedText } from "./streamed.ts";
import { cutLine, type LineBlock, screenRows } from "./wrap.ts";

/** What a timeline needs to know of the world. */
export interface TimelineOptions {
  readonly cwd: string;
  readonly look: () => Look;
  readonly now: () => number;
}

/**
 * A turn as rows of a screen: events go in; out come rows that are final, and below them those that still change.
 * Writes nothing itself.
 */
export class Timeline {
  readonly #options: TimelineOptions;
  readonly #open = new Map<string, OpenItem>();
  /** What the user is asked about now: the item by the id of the question. */
  readonly #asking = new Map<string, string>();
  /** The items that the user has seen whole, because they were asked about. */
  readonly #seen = new Set<string>();
  #text: { readonly itemId: string; readonly streamed: StreamedText } | undefined;
  #streamedIds = new Set<string>();
  #rows: Line[] = [];
  #plan: readonly PlanEntry[] = [];
  #begun = false;
  #heardPrompt = false;
  #last: "nothing" | "text" | "line" | "block" = "nothing";
  #retrying = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** What is going on now, in a few words. */
  get activity(): string {
    if (this.#asking.size > 0) return "Waiting for an answer";
    if (this.#retrying) return "Trying again";
    const open = [...this.#open.values()].at(-1);
    return open?.activity ?? (this.#begun ? "Thinking" : "Starting");
  }

  /** The rows that became final since the last call. */
  takeRows(): Line[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** The rows below the final ones, as they are now; at most so many. */
  liveRows(most: number): Line[] {
    const look = this.#options.look();
    const sign = marksFor(look.unicode).more;
    const text = this.#text?.streamed.openRow ?? [];
    const asking = new Set(this.#asking.values());
    const shown = [...this.#open.values()].filter(({ item }) => !asking.has(item.id));
    const rows = shown.flatMap((item) => {
      const lines = item.lines(look, this.#options.now());
      return lines.map((line) => cutLine(line, look.columns - 1, sign));
    });
    const gap = rows.length > 0 && (text.length > 0 || this.#last !== "nothing") ? [[]] : [];
    return [...(text.length === 0 ? [] : [text]), ...gap, ...rows].slice(-Math.max(0, most));
  }

  /** Takes an event in. */
  show(event: AgentEvent): void {
    switch (event.type) {
      case "turn/started":
        this.#begun = true;
        break;
      case "item/started":
        this.#start(event.data.item);
        break;
      case "item/completed":
        this.#complete(event.data.item);
        break;
      case "item/agentMessage/delta":
        this.#say(event.data.itemId, event.data.delta, event.data.offset);
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
        this.#planned(event.data.plan);
        break;
      case "approval/requested":
        this.#asked(event.data.approval.id, event.data.approval.action.itemId);
        break;
      case "approval/resolved":
        this.#resolved(event.data.approvalId, event.data.resolution);
        break;
      case "question/requested":
        this.#asked(event.data.request.id, event.data.request.itemId);
        break;
      case "question/resolved":
        this.#asking.delete(event.data.questionId);
        break;
      default:
        this.#notice(event);
        break;
    }
  }

  /** Puts lines of its own between those of the agent. */
  put(block: LineBlock): void {
    this.#endText();
    const look = this.#options.look();
    const rows = screenRows(block, look);
    const kind = rows.length === 1 ? "line" : "block";
    if (this.#last !== "nothing" && !(this.#last === "line" && kind === "line")) this.#rows.push([]);
    this.#rows.push(...rows);
    this.#last = kind;
  }

  /** Nothing more comes; what is still open is forgotten. */
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
    else if (item.type === "agentMessage") this.#said(item.id, item.text);
    else if (item.type === "userMessage") this.#heard(inputText(item.content));
    else if (item.type === "plan" && item.entries !== undefined) this.#planned(item.entries);
    else this.#putItem(item, open);
  }

  #putItem(item: ThreadItem, open: OpenItem | undefined): void {
    const { look, now, cwd } = this.#options;
    const elapsedMs = open === undefined ? 0 : now() - open.startedAt;
    const streamed = item.type === "commandExecution" ? open?.output.last() : undefined;
    const output = streamed === undefined || streamed.lines.length === 0 ? undefined : streamed;
    const context = { look: look(), elapsedMs, output, cwd, seen: this.#seen.has(item.id) };
    for (const block of drawRow(rowOf(item), context)) this.put(block);
  }

  #say(itemId: string, piece: string, offset: number): void {
    if (this.#text?.itemId !== itemId) this.#beginText(itemId);
    const { columns } = this.#options.look();
    this.#text?.streamed.add(piece, offset, columns);
    this.#takeText();
  }

  /** The whole text is known: what was not streamed is shown now. */
  #said(itemId: string, text: string): void {
    if (this.#text?.itemId === itemId) this.#say(itemId, text, 0);
    else if (!this.#streamedIds.has(itemId) && text !== "") this.#say(itemId, text, 0);
    this.#endText();
  }

  #beginText(itemId: string): void {
    this.#endText();
    if (this.#last !== "nothing") this.#rows.push([]);
    this.#last = "text";
    this.#streamedIds.add(itemId);
    this.#text = { itemId, streamed: new StreamedText() };
  }

  #endText(): void {
    this.#text?.streamed.end(this.#options.look().columns);
    this.#takeText();
    this.#text = undefined;
  }

  #takeText(): void {
    this.#rows.push(...(this.#text?.streamed.takeRows() ?? []));
  }

  /** Only what the user sends while the turn runs; the prompt itself is above, on the command line. */
  #heard(text: string): void {
    if (!this.#heardPrompt) this.#heardPrompt = true;
    else this.put(notice(marksFor(this.#options.look().unicode).user, "cyan", text));
  }

  #progress(itemId: string, message: string): void {
    const open = this.#open.get(itemId);
    if (open !== undefined) open.progress = message;
  }

  #planned(plan: readonly PlanEntry[]): void {
    const changed = changedSteps(this.#plan, plan);
    const isNew = changed.length === plan.length;
    this.#plan = plan;
    if (changed.length === 0) return;
    const steps = planLines(changed, this.#options.look());
    this.put({ head: isNew ? [lineOf("Plan", "bold"), ...steps] : steps, indent: 4 });
  }

  #asked(askId: string, itemId: string): void {
    this.#asking.set(askId, itemId);
    this.#seen.add(itemId);
  }

  #resolved(approvalId: string, resolution: Resolution): void {
    if (!this.#asking.delete(approvalId)) return;
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
