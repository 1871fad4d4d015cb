import { DecisionScope, type EventType, isRecord, type Thread, ThreadSettings } from "@flint/protocol";

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isBoolean: Check = (value) => typeof value === "boolean";

function fields(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value) => isRecord(value) && entries.every(([name, check]) => check(value[name]));
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

const item = fields({ type: isText, id: isText });

/** Whether a value of a file can be shown as a turn. */
export const isTurn: Check = fields({ id: isText, status: isText, items: listOf(item) });

const usage = fields({ inputTokens: isNumber, outputTokens: isNumber });

/** Whether a value of a file is the settings of a thread. Exact: a damaged policy must not read as a weaker one. */
export const isThreadSettings: Check = (value) => ThreadSettings.safeParse(value).success;

const hasThreadFields = fields({
  id: isText,
  preview: isText,
  modelProvider: isText,
  model: isText,
  cwd: isText,
  createdAt: isNumber,
  updatedAt: isNumber,
  archived: isBoolean,
  ephemeral: isBoolean,
  status: fields({ type: isText }),
});

/** Whether a value of a file can be listed as a thread. */
export function isThread(value: unknown): value is Thread {
  return hasThreadFields(value);
}

/** Exact, because a damaged scope must never read as a wider one. */
const decision = fields({ outcome: isText, scope: (value) => DecisionScope.safeParse(value).success });

const itemEvent = fields({ turnId: isText, item });
const delta = fields({ turnId: isText, itemId: isText, delta: isText, offset: isNumber });

/**
 * What the fold needs of each event, and no more: a record that was written must stay readable even if a driver
 * was careless about a detail that only its schema knows.
 */
const SHAPES: Readonly<Partial<Record<EventType, Check>>> = {
  "thread/started": fields({ thread: hasThreadFields, settings: isThreadSettings }),
  "thread/settings/updated": fields({ settings: isThreadSettings }),
  "thread/name/updated": fields({ name: isText }),
  "thread/goal/updated": fields({ goal: fields({ objective: isText, status: isText }) }),
  "thread/session/updated": fields({ agent: isText, nativeId: isText }),
  "thread/reverted": fields({ turnIds: listOf(isText) }),
  "thread/revert/undone": fields({ revertId: isText, turns: listOf(isTurn) }),
  "thread/queue/changed": fields({ queue: listOf(fields({ id: isText, input: Array.isArray })) }),
  "thread/tokenUsage/updated": fields({ usage, last: usage }),
  "turn/started": fields({ turn: isTurn }),
  "turn/completed": fields({ turn: isTurn }),
  "item/started": itemEvent,
  "item/completed": itemEvent,
  "item/agentMessage/delta": delta,
  "item/reasoning/textDelta": delta,
  "item/reasoning/summaryTextDelta": delta,
  "item/commandExecution/outputDelta": delta,
  "item/fileChange/outputDelta": delta,
  "item/plan/delta": delta,
  "approval/requested": fields({ approval: fields({ id: isText, turnId: isText, action: isRecord }) }),
  "approval/resolved": fields({ approvalId: isText, resolution: fields({ decision }) }),
  "question/requested": fields({ request: fields({ id: isText, turnId: isText, questions: Array.isArray }) }),
  "question/resolved": fields({ questionId: isText }),
  "tool/requested": fields({ request: fields({ id: isText, turnId: isText, tool: isText }) }),
  "tool/resolved": fields({ callId: isText }),
};

/** Whether the data of a record can be folded. */
export function isFoldable(type: EventType, data: Fields): boolean {
  return SHAPES[type]?.(data) ?? true;
}
