import type { EventType, ThreadEvent, Turn } from "@flint/protocol";
import { lateGrantText } from "../../shared/client-text.ts";
import type { Update, UpdateFormat } from "../protocol-version.ts";
import { infoUpdate, usageUpdate } from "./content.ts";
import {
  itemCompleted,
  itemReplayed,
  itemStarted,
  NOTHING,
  shared,
  type Translated,
  type TranslationContext,
} from "./item-updates.ts";
import { TurnProgress } from "./progress.ts";
import type { ToolView } from "./tool-view.ts";

type EventOf<Type extends EventType> = Extract<ThreadEvent, { type: Type }>;

/** An event that clients are not sent an update for, and why. */
interface NotShown {
  readonly notShown: string;
}

type EventRow<Type extends EventType> =
  | ((context: TranslationContext, event: EventOf<Type>) => Translated)
  | NotShown;

const NO_UPDATE: NotShown = { notShown: "ACP has no update for it." };
const AS_CONFIG: NotShown = { notShown: "The session reads its config again and sends what has changed." };

/** The presentation of each event. A new row in `EVENTS` needs a row here. */
const ROWS: { readonly [Type in EventType]: EventRow<Type> } = {
  "thread/started": { notShown: "The response to the request that started it has the session." },
  "thread/settings/updated": AS_CONFIG,
  "thread/name/updated": (context, { data, at }) =>
    shared(context, "name", () => [infoUpdate(data.name, at)]),
  "thread/commands/updated": { notShown: "The session sends all commands again, with Flint's own." },
  "thread/goal/updated": NO_UPDATE,
  "thread/goal/cleared": NO_UPDATE,
  "thread/archived": NO_UPDATE,
  "thread/unarchived": NO_UPDATE,
  "thread/deleted": { notShown: "The session is closed; ACP has no update for it." },
  "thread/closed": { notShown: "The thread is loaded again with the next prompt." },
  "thread/status/changed": { notShown: "The events of turns and requests are sent as states." },
  "thread/session/updated": { notShown: "The agent's own session id is not the client's concern." },
  "thread/reverted": { notShown: "ACP cannot remove what was already shown." },
  "thread/revert/undone": { notShown: "ACP cannot insert into what was already shown." },
  "thread/queue/changed": { notShown: "ACP has no queue: a queued prompt is one without a response." },
  "thread/tokenUsage/updated": (context, { data }) =>
    // The context of a sub-agent is not that of the session; the cost comes with the session's own next call.
    shared(context, "usage", () => (data.parentItemId === undefined ? [usageUpdate(data)] : [])),
  "turn/started": (context) => shared(context, "running", () => context.format.state("running")),
  "turn/completed": (context, { data, at }) => {
    context.progress.reset();
    return shared(context, "turn", () => [
      infoUpdate(undefined, at),
      ...context.format.turnCompleted(data.turn),
    ]);
  },
  "turn/plan/updated": (context, { data }) =>
    shared(context, "plan", () => context.format.plan(data.turnId, data.plan)),
  "turn/diff/updated": { notShown: "Every file change is shown as a diff of its own." },
  "item/started": (context, { data }) => itemStarted(context, data.item),
  "item/completed": (context, { data }) => itemCompleted(context, data.item),
  "item/agentMessage/delta": (context, event) => textDelta(context, event, "message", "text"),
  "item/plan/delta": (context, event) => textDelta(context, event, "message", "text"),
  "item/reasoning/textDelta": (context, event) => textDelta(context, event, "thought", "content"),
  "item/reasoning/summaryTextDelta": (context, event) => textDelta(context, event, "thought", "summary"),
  "item/commandExecution/outputDelta": outputDelta,
  "item/fileChange/outputDelta": { notShown: "The patch is shown as it grows." },
  "item/fileChange/patchUpdated": (context, { data: { itemId, changes } }) =>
    itemStarted(context, { type: "fileChange", id: itemId, changes, status: "inProgress" }),
  "item/mcpToolCall/progress": NO_UPDATE,
  "approval/requested": (context, { data }) => requested(context, data.approval.id),
  "approval/resolved": (context, { data: { approvalId, itemId, resolution } }) => {
    const { outcome, message } = resolution.decision;
    if (outcome !== "allow" && message !== undefined) context.progress.declined.set(itemId, message);
    return resolved(context, approvalId);
  },
  "question/requested": (context, { data }) => requested(context, data.request.id),
  "question/resolved": (context, { data }) => resolved(context, data.questionId),
  "tool/requested": { notShown: "ACP clients cannot offer tools." },
  "tool/resolved": { notShown: "ACP clients cannot offer tools." },
  error: (context, { data }) => (data.willRetry ? notice(context, "warning", data.error.message) : NOTHING),
  warning: (context, { data }) => notice(context, "warning", data.message),
  "model/rerouted": (context, { data: { fromModel, toModel, reason } }) =>
    notice(context, "info", `Switched from ${fromModel} to ${toModel}: ${reason}`),
  "config/updated": AS_CONFIG,
  "grant/changed": (context, { data: { grant, status } }) =>
    status === "added" ? notice(context, "info", lateGrantText(grant)) : NOTHING,
  "account/login/completed": { notShown: "ACP clients log in with `authenticate`." },
  "account/updated": { notShown: "ACP has no update about accounts." },
  "account/limits": { notShown: "ACP has no update about accounts; the error of a turn names the limit." },
  "task/event": { notShown: "ACP has no tasks." },
  "extension/notified": NO_UPDATE,
};

type DeltaEvent = EventOf<
  | "item/agentMessage/delta"
  | "item/plan/delta"
  | "item/reasoning/textDelta"
  | "item/reasoning/summaryTextDelta"
>;

function textDelta(
  context: TranslationContext,
  { data: { itemId, delta, offset } }: DeltaEvent,
  kind: "message" | "thought",
  field: string,
): Translated {
  const { format, progress } = context;
  const missing = progress.takeDelta(itemId, field, delta, offset);
  if (missing === "") return NOTHING;
  const updates = () => [format.textChunk(kind, itemId, missing)];
  return missing.length === delta.length ? shared(context, "delta", updates) : { updates };
}

function outputDelta(
  context: TranslationContext,
  { data: { itemId, delta, offset } }: EventOf<"item/commandExecution/outputDelta">,
): Translated {
  const { format, progress } = context;
  const { commandOutput } = format;
  // It is in the client's own terminal.
  if (progress.terminals.has(itemId)) return NOTHING;
  if (commandOutput.type === "chunks") {
    const missing = progress.takeDelta(itemId, "output", delta, offset);
    if (missing === "") return NOTHING;
    const updates = () => [commandOutput.chunk(itemId, missing)];
    return missing.length === delta.length ? shared(context, "output", updates) : { updates };
  }
  const window = progress.outputOf(itemId);
  if (!window.append(delta, offset)) return NOTHING;
  return { updates: () => [commandOutput.tail(itemId, window.text)] };
}

function requested(context: TranslationContext, id: string): Translated {
  context.progress.openRequests.add(id);
  return shared(context, "requested", () => context.format.state("requires_action"));
}

function resolved(context: TranslationContext, id: string): Translated {
  const { openRequests } = context.progress;
  openRequests.delete(id);
  if (openRequests.size > 0) return NOTHING;
  return shared(context, "resolved", () => context.format.state("running"));
}

function notice(context: TranslationContext, severity: "info" | "warning", title: string): Translated {
  return shared(context, "notice", () => context.format.notice(severity, title));
}

/** Translates the events of one thread into updates for one client. */
export class Translator {
  /** The agent's working directory, against which relative paths are resolved. */
  cwd = "";
  readonly #format: UpdateFormat;
  readonly #isOwn: TranslationContext["isOwn"];
  readonly #progress = new TurnProgress();

  /** `isOwn` is whether this client sent a user message itself. */
  constructor(format: UpdateFormat, isOwn: TranslationContext["isOwn"]) {
    this.#format = format;
    this.#isOwn = isOwn;
  }

  /** The updates of an event. */
  translate<Type extends EventType>(event: EventOf<Type>): Translated {
    const row: EventRow<never> = ROWS[event.type];
    if ("notShown" in row) return NOTHING;
    // The row is looked up by the type of the event that it gets; the union has lost which belong together.
    const translate = row as (context: TranslationContext, event: ThreadEvent) => Translated;
    return translate(this.#context, event);
  }

  /** Past turns, and the items of the running one as they are now. */
  history(turns: readonly Turn[]): readonly Update[] {
    const context = this.#context;
    return turns.flatMap((turn) => {
      for (const { itemId, reason } of turn.declined ?? []) context.progress.declined.set(itemId, reason);
      const updates = turn.items.flatMap((item) => itemReplayed(context, item, turn.id));
      const failure = turn.error === undefined ? [] : this.#format.notice("error", turn.error.message);
      if (turn.status !== "inProgress") this.#progress.reset();
      return [...updates, ...failure];
    });
  }

  /** The tool call that a request to the client refers to, if the client does not have it yet. */
  pendingToolCall(view: ToolView): readonly Update[] {
    if (!this.#progress.recordToolCall(view.id)) return [];
    return this.#format.toolCall({ ...view, status: "pending" }, true);
  }

  /** A command runs in a terminal of this client. */
  terminal(itemId: string, terminalId: string): readonly Update[] {
    this.#progress.terminals.set(itemId, terminalId);
    return this.#format.terminal(itemId, terminalId);
  }

  get #context(): TranslationContext {
    return { format: this.#format, progress: this.#progress, cwd: this.cwd, isOwn: this.#isOwn };
  }
}
