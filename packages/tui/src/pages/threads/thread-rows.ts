import { agentOfModel, type Thread, type UsageLimit } from "@flint/protocol";
import { ageOf, budget, escapeControls, limitCells, money, shortFolder } from "@flint/view";
import { type Line, type Style, span } from "../../draw/line.ts";
import { type Marks, marksFor, type RenderOptions } from "../../draw/render-options.ts";

/** A thread in the list. */
export interface ListRow {
  readonly thread: Thread;
  readonly number: number;
  readonly isSelected: boolean;
  readonly isPinned: boolean;
}

/** Options for drawing rows. */
export interface RowContext {
  readonly look: RenderOptions;
  readonly now: number;
  readonly home: string | undefined;
}

/** On narrower terminals the costs are below the list, for the selected thread alone. */
const MIN_COLUMNS_WITH_COSTS = 72;

/** The rows of threads, with status or age, agent, cost, title and folder in columns. */
export function threadRows(rows: readonly ListRow[], context: RowContext): Line[] {
  const { look, now, home } = context;
  const marks = marksFor(look.unicode);
  const hasCosts = look.columns >= MIN_COLUMNS_WITH_COSTS;
  const cells = rows.map(({ thread }) => ({
    word: statusOf(thread, now) ?? ageOf(thread.updatedAt * 1000, now),
    agent: escapeControls(agentOfModel(thread.model)),
    cost: hasCosts ? costOf(thread) : "",
  }));
  const widest = (key: "word" | "agent" | "cost") => Math.max(...cells.map((cell) => cell[key].length));
  const widths = { word: widest("word"), agent: widest("agent"), cost: widest("cost") };
  return rows.map(({ thread, number, isSelected, isPinned }, at): Line => {
    const { word = "", agent = "", cost = "" } = cells[at] ?? {};
    const [mark, style] = markOf(statusOf(thread, now), marks);
    const title = escapeControls(thread.name ?? thread.preview).replaceAll("\n", " ") || "(empty)";
    return [
      span(isSelected ? `${marks.current} ` : "  ", "cyan"),
      span(look.isPlain === true ? `${number}. ` : `${mark} `, style),
      span(`${word.padEnd(widths.word)}  `, "dim"),
      span(`${agent.padEnd(widths.agent)}  `, "cyan"),
      ...(widths.cost === 0 ? [] : [span(`${cost.padStart(widths.cost)}  `, "dim")]),
      span(isPinned ? "* " : "", "yellow"),
      span(title, isSelected ? "bold" : undefined),
      span(`  ${escapeControls(shortFolder(thread.cwd, home))}`, "dim"),
    ];
  });
}

/** Returns the cost of a thread, its limits, and the usage limit that it has to wait for. */
export function amountsOf(thread: Thread, now: number): string[] {
  const limits = budget(thread.budget ?? {});
  const cost = costOf(thread);
  return [
    ...(cost === "" ? [] : [`cost ${cost}`]),
    ...(limits === "" ? [] : [`limits: ${limits}`]),
    ...(isAtUsageLimit(thread, now) ? [usageLimitOf(thread, now)] : []),
  ].map(escapeControls);
}

/** `$0.42`, or `$0.42 of $2.00` if the thread may cost no more than that. */
function costOf({ cost, budget: limits }: Thread): string {
  const { thread, extended } = limits ?? {};
  if (thread?.costUsd === undefined) return cost === undefined ? "" : money(cost);
  const most = Math.max(thread.costUsd, extended?.costUsd ?? 0);
  return `${money(cost ?? { amount: 0, currency: "USD" })} of ${money({ amount: most, currency: "USD" })}`;
}

function usageLimitOf({ usageLimit }: Thread, now: number): string {
  if (usageLimit === undefined) return "";
  const [whose = "", window = "", used = "", resets = ""] = limitCells(usageLimit, now);
  return `usage limit of ${whose}: ${window} ${used}, ${resetWords(usageLimit, resets)}`;
}

function resetWords({ needsUser, resetsAtMs }: UsageLimit, resets: string): string {
  if (needsUser === true) return resets;
  return resetsAtMs === undefined ? `reset time ${resets}` : `resets ${resets}`;
}

/**
 * Reports whether the latest turn failed at a usage limit that has not been reset since, as far as that is
 * known.
 */
function isAtUsageLimit({ usageLimit, status }: Thread, now: number): boolean {
  if (usageLimit === undefined || status.type === "active") return false;
  return usageLimit.resetsAtMs === undefined || usageLimit.resetsAtMs > now;
}

const STATUSES = ["waiting for you", "running", "usage limit", "failed"] as const;
type ListStatus = (typeof STATUSES)[number];

/** Returns the status of a thread; undefined if it is idle and its last turn did not fail. */
function statusOf(thread: Thread, now: number): ListStatus | undefined {
  const { status, lastTurnFailed } = thread;
  if (status.type === "active") return (status.activeFlags ?? []).length > 0 ? "waiting for you" : "running";
  if (lastTurnFailed !== true) return undefined;
  return isAtUsageLimit(thread, now) ? "usage limit" : "failed";
}

function markOf(status: ListStatus | undefined, marks: Marks): readonly [string, Style] {
  switch (status) {
    case "waiting for you":
      return [marks.warning, "yellow"];
    case "running":
      return [marks.running, "green"];
    case "usage limit":
      return [marks.pending, "yellow"];
    case "failed":
      return [marks.failed, "red"];
    case undefined:
      return [marks.pending, "dim"];
  }
}

/** The number of threads of each kind that deserves a look. */
export function countsOf(threads: readonly Thread[], now: number): string[] {
  return STATUSES.flatMap((status) => {
    const count = threads.filter((thread) => statusOf(thread, now) === status).length;
    if (count === 0) return [];
    return [`${count} ${status === "usage limit" ? "at a usage limit" : status}`];
  });
}
