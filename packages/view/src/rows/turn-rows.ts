import { type Cost, type TokenUsage, type Turn, type TurnStatus, totalTokens } from "@flint/protocol";
import { count, duration, money, tokens } from "../amounts.ts";
import type { Block, Row, RowStatus, Span } from "../row.ts";

const BASE = { meta: [], body: [], actions: [], depth: 0 } as const;

/** A row before the items of a turn that no user started: who did, and why. */
export function turnStartRow({ id, _meta }: Turn): Row | undefined {
  const { startedBy, reason } = _meta ?? {};
  if (startedBy === undefined) return undefined;
  const why = typeof reason === "string" && reason !== "" ? reason : "background work ended";
  const text = startedBy === "agent" ? `The agent continued on its own: ${why}` : why;
  return {
    ...BASE,
    key: `${id}/start`,
    turnId: id,
    family: "notice",
    status: "completed",
    title: [{ text }],
  };
}

const ENDINGS: Readonly<
  Record<Exclude<TurnStatus, "inProgress">, { readonly title: string; readonly status: RowStatus }>
> = {
  completed: { title: "Done", status: "completed" },
  interrupted: { title: "Interrupted", status: "declined" },
  failed: { title: "Failed", status: "failed" },
};

/** The last row of a turn: how it ended, how long it worked, what it used, and what was not allowed in it. */
export function turnEndRow(turn: Turn): Row | undefined {
  if (turn.status === "inProgress") return undefined;
  const { title, status } = ENDINGS[turn.status];
  return {
    ...BASE,
    key: `${turn.id}/end`,
    turnId: turn.id,
    family: "turn",
    status,
    title: [{ text: title, emphasis: "strong" }],
    meta: figures(turn),
    durationMs: workingTimeMs(turn),
    body: [...errorBlocks(turn), ...declinedBlocks(turn)],
    actions: ["showDiff", "rewindToRow", "forkAtRow"],
  };
}

/** Returns the time for which a turn worked, without the time that it waited for the user. */
export function workingTimeMs({ durationMs, waitedMs = 0 }: Turn): number | undefined {
  return durationMs === undefined ? undefined : Math.max(0, durationMs - waitedMs);
}

/** Waiting times below this are not worth a word. */
const WORTH_SAYING_MS = 1_000;

function figures(turn: Turn): Span[] {
  const worked = workingTimeMs(turn);
  const { waitedMs = 0 } = turn;
  const { usage, cost } = usageOf(turn);
  const files = changedFiles(turn);
  const words = [
    ...(worked === undefined ? [] : [`in ${duration(worked)}`]),
    ...(waitedMs < WORTH_SAYING_MS ? [] : [`waited ${duration(waitedMs)} for you`]),
    ...(usage === undefined || totalTokens(usage) === 0 ? [] : [tokens(totalTokens(usage))]),
    ...(cost === undefined ? [] : [money(cost)]),
    ...(files === 0 ? [] : [`${count(files, "file")} changed`]),
  ];
  return words.map((text) => ({ text, emphasis: "muted" }));
}

/** Returns the usage of a turn, if its events reported it. */
function usageOf(turn: Turn): { readonly usage?: TokenUsage; readonly cost?: Cost } {
  const usage: unknown = Reflect.get(turn, "usage");
  const cost: unknown = Reflect.get(turn, "cost");
  return { ...(isUsage(usage) ? { usage } : {}), ...(isCost(cost) ? { cost } : {}) };
}

function isUsage(value: unknown): value is TokenUsage {
  return typeof value === "object" && value !== null && "inputTokens" in value && "outputTokens" in value;
}

function isCost(value: unknown): value is Cost {
  return typeof value === "object" && value !== null && "amount" in value && "currency" in value;
}

function changedFiles({ items }: Turn): number {
  const paths = items.flatMap((item) =>
    item.type === "fileChange" && "changes" in item && item.status === "completed"
      ? item.changes.map(({ path }: { path: string }) => path)
      : [],
  );
  return new Set(paths).size;
}

function errorBlocks({ error }: Turn): Block[] {
  return error === undefined ? [] : [{ kind: "error", text: error.message }];
}

function declinedBlocks({ declined = [] }: Turn): Block[] {
  return declined.map(({ what, reason }) => ({ kind: "declined", what, reason }));
}
