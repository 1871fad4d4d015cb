import type { Item } from "@flint/protocol";
import { type TokenUsage, type Turn, type TurnError, totalTokens } from "@flint/protocol";
import type {
  CodexHookRun,
  CodexItemsView,
  CodexTokens,
  CodexTurn,
  CodexTurnError,
} from "@flint/protocol/codex";
import { itemOf, type TimedItem } from "./items.ts";

/** A turn without its items, which have events of their own. */
export function bareTurn(turn: Turn): CodexTurn {
  return turnWith(turn, "notLoaded", []);
}

/** A turn in the answer to the request that started it; its start time comes with `turn/started`. */
export function answeredTurn(turn: Turn): CodexTurn {
  return { ...bareTurn(turn), startedAt: null };
}

/** A turn that ended, with the last message of the agent if it completed. */
export function endedTurn(turn: Turn): CodexTurn {
  const message = turn.status === "completed" ? lastMessage(itemsOf(turn)) : undefined;
  return message === undefined ? bareTurn(turn) : turnWith(turn, "summary", [message]);
}

/** A turn of the history, with as many of its items as requested. */
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

/** The items of a turn that clients are shown. */
export function itemsOf({ items }: Turn): TimedItem[] {
  return items.flatMap((item) => itemOf(item) ?? []);
}

/** Converts the error of a turn. */
export function turnErrorOf(error: TurnError): CodexTurnError {
  return {
    message: error.message,
    codexErrorInfo: errorInfoOf(error),
    additionalDetails: error.additionalDetails ?? null,
    misalignment: null,
  };
}

/** Codex's names for errors; all others are `other`. */
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

function turnWith(turn: Turn, itemsView: CodexItemsView, items: TimedItem[]): CodexTurn {
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

function summary(items: readonly TimedItem[]): TimedItem[] {
  const prompt = items.find((item) => item.type === "userMessage");
  return [prompt, lastMessage(items)].filter((item) => item !== undefined);
}

function lastMessage(items: readonly TimedItem[]): TimedItem | undefined {
  return items.findLast((item) => item.type === "agentMessage");
}

/** Tokens as Codex counts them: cached ones are part of the input, and reasoning is part of the output. */
export function tokensOf(usage: TokenUsage): CodexTokens {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, thinkingTokens = 0 } = usage;
  return {
    totalTokens: totalTokens(usage),
    inputTokens: usage.inputTokens + cacheReadTokens + cacheWriteTokens,
    cachedInputTokens: cacheReadTokens,
    cacheWriteInputTokens: cacheWriteTokens,
    outputTokens: usage.outputTokens + thinkingTokens,
    reasoningOutputTokens: thinkingTokens,
  };
}

const EVENTS: ReadonlySet<string> = new Set([
  ...["preModelRequest", "postModelRequest", "preToolUse", "permissionRequest", "postToolUse", "preCompact"],
  ...["postCompact", "sessionStart", "sessionEnd", "userPromptSubmit", "subagentStart", "subagentStop"],
  ...["stop", "interrupt"],
]);

/** The event of this wire that is nearest to an agent's own; each agent writes them in its own case. */
function eventNameOf(event: string): string {
  const camel = event.charAt(0).toLowerCase() + event.slice(1);
  if (EVENTS.has(camel)) return camel;
  return /tool/i.test(event) ? "postToolUse" : "userPromptSubmit";
}

/** A run of a hook as Codex reports it. What only its own hooks have is what it says where it does not know. */
export function hookRunOf(item: Item<"hookRun">, at: number): CodexHookRun {
  const { id, event, name = event, status, output = "", durationMs = null } = item;
  const isRunning = status === "inProgress";
  const kind = status === "completed" ? "context" : status === "stopped" ? "stop" : "error";
  return {
    ...{ id, eventName: eventNameOf(event), handlerType: "command", executionMode: "sync", scope: "turn" },
    ...{ sourcePath: "/", source: "unknown", displayOrder: 0, status: isRunning ? "running" : status },
    ...{
      statusMessage: name,
      startedAt: at - (durationMs ?? 0),
      completedAt: isRunning ? null : at,
      durationMs,
    },
    entries: output === "" ? [] : [{ kind, text: output }],
  };
}
