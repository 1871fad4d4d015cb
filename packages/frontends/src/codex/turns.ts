import type { Turn, TurnError } from "@flint/protocol";
import type { CodexItemsView, CodexTurn, CodexTurnError } from "@flint/protocol/codex";
import { itemOf, type ToldItem } from "./items.ts";

/** A turn that begins, or of which nothing more is to be told: its items have events of their own. */
export function bareTurn(turn: Turn): CodexTurn {
  return turnWith(turn, "notLoaded", []);
}

/** A turn as it is answered to whoever started it: when it really began comes with `turn/started`. */
export function answeredTurn(turn: Turn): CodexTurn {
  return { ...bareTurn(turn), startedAt: null };
}

/** A turn that ended, with what the agent said last if it came to its end. */
export function endedTurn(turn: Turn): CodexTurn {
  const said = turn.status === "completed" ? lastMessage(itemsOf(turn)) : undefined;
  return said === undefined ? bareTurn(turn) : turnWith(turn, "summary", [said]);
}

/** A turn of the past, with as many of its items as are wanted. */
export function listedTurn(turn: Turn, view: CodexItemsView): CodexTurn {
  switch (view) {
    case "notLoaded":
      return bareTurn(turn);
    case "summary":
      return turnWith(turn, view, summary(itemsOf(turn)));
    case "full":
      return turnWith(turn, view, itemsOf(turn));
  }
}

/** The items of a turn in Codex's words. */
export function itemsOf({ items }: Turn): ToldItem[] {
  return items.flatMap((item) => itemOf(item) ?? []);
}

/** Why a turn failed, in Codex's words. */
export function turnErrorOf(error: TurnError): CodexTurnError {
  return {
    message: error.message,
    codexErrorInfo: errorInfoOf(error),
    additionalDetails: error.additionalDetails ?? null,
    misalignment: null,
  };
}

/** Names that Codex has for what can go wrong; all others are `other`. */
const ERROR_INFO: Readonly<Record<string, string>> = {
  ContextWindowExceeded: "contextWindowExceeded",
  UsageLimitExceeded: "usageLimitExceeded",
  InternalServerError: "internalServerError",
  Unauthorized: "unauthorized",
  BadRequest: "badRequest",
  ThreadRollbackFailed: "threadRollbackFailed",
  SandboxError: "sandboxError",
  BudgetExceeded: "sessionBudgetExceeded",
};

function errorInfoOf({ errorInfo, httpStatusCode }: TurnError): unknown {
  const known = errorInfo === undefined ? undefined : ERROR_INFO[errorInfo];
  if (known !== undefined) return known;
  return httpStatusCode === undefined ? "other" : { httpConnectionFailed: { httpStatusCode } };
}

function turnWith(turn: Turn, itemsView: CodexItemsView, items: ToldItem[]): CodexTurn {
  const { id, status, error, startedAtMs, completedAtMs, durationMs } = turn;
  return {
    id,
    rootTurnId: id,
    items,
    itemsView,
    status,
    error: error === undefined ? null : turnErrorOf(error),
    startedAt: seconds(startedAtMs),
    completedAt: seconds(completedAtMs),
    durationMs: durationMs ?? null,
  };
}

function seconds(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.floor(milliseconds / 1000);
}

function summary(items: readonly ToldItem[]): ToldItem[] {
  const asked = items.find((item) => item.type === "userMessage");
  return [asked, lastMessage(items)].filter((item) => item !== undefined);
}

function lastMessage(items: readonly ToldItem[]): ToldItem | undefined {
  return items.findLast((item) => item.type === "agentMessage");
}
