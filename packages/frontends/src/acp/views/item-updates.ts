import {
  type ExtensionItem,
  type Item,
  type ItemType,
  isKnownItem,
  type KnownItem,
  type ThreadItem,
} from "@flint/protocol";
import type { TextKind, Update, UpdateFormat } from "../protocol-version.ts";
import type { TurnProgress } from "./progress.ts";
import { extensionView, type ToolItem, type ToolView, toolView } from "./tool-view.ts";

/** The context of a translation besides the event: the client's format, and what it has already. */
export interface TranslationContext {
  readonly format: UpdateFormat;
  readonly progress: TurnProgress;
  /** The agent's working directory, against which relative paths are resolved. */
  readonly cwd: string;
  /** Reports whether this client sent a user message itself. */
  isOwn(item: { readonly clientId?: string | undefined }): boolean;
}

/** Updates, and the key under which other clients get the same ones; without a key they are for this client only. */
export interface Translated {
  readonly key?: string;
  updates(): readonly Update[];
}

/** No update. */
export const NOTHING: Translated = { updates: () => [] };

/** Updates that every client with the same format gets. */
export function shared(
  { format }: TranslationContext,
  what: string,
  updates: () => readonly Update[],
): Translated {
  return { key: `${what} ${format.key}`, updates };
}

/** The presentation of items of one type. */
interface ItemRow<Shown> {
  readonly started: (context: TranslationContext, item: Shown) => Translated;
  readonly completed: (context: TranslationContext, item: Shown) => Translated;
  /** The presentation of a past item, where that differs from start and completion together. */
  readonly replayed?: (context: TranslationContext, item: Shown, turnId: string) => readonly Update[];
}

const TOOL_CALL: ItemRow<ToolItem> = {
  started: toolItem,
  completed: toolItem,
  replayed: (context, item) => toolItem(context, item).updates(),
};

/** The presentation of each item type. A new row in `ITEMS` needs a row here; tool calls also need a view. */
const ROWS: { readonly [Type in ItemType]: ItemRow<Item<Type>> } = {
  userMessage: {
    started: () => NOTHING,
    completed: (context, item) => {
      const { format } = context;
      if (context.isOwn(item) && !format.echoesPrompts) return NOTHING;
      return shared(context, "user", () => format.userMessage(item));
    },
    replayed: ({ format }, item) => format.userMessage(item),
  },
  agentMessage: { started: agentText, completed: agentText },
  reasoning: { started: reasoning, completed: reasoning },
  commandExecution: TOOL_CALL,
  fileChange: TOOL_CALL,
  mcpToolCall: TOOL_CALL,
  toolCall: TOOL_CALL,
  webSearch: TOOL_CALL,
  agentHandoff: TOOL_CALL,
  subAgentMessage: TOOL_CALL,
  hookRun: TOOL_CALL,
  plan: {
    started: proposedPlan,
    completed: proposedPlan,
    replayed: (context, item, turnId) =>
      item.entries === undefined
        ? proposedPlan(context, item).updates()
        : context.format.plan(turnId, item.entries),
  },
  enteredReviewMode: { started: reviewStart, completed: reviewStart },
  exitedReviewMode: {
    started: () => NOTHING,
    // The text of a review is usually also the agent's message.
    completed: (context, item) =>
      context.progress.hasMessage ? NOTHING : text(context, "message", item.id, "text", item.review),
  },
  contextCompaction: {
    started: (context, item) =>
      shared(context, "compacting", () => context.format.compaction(item, "in_progress")),
    completed: (context, item) =>
      shared(context, "compacted", () => context.format.compaction(item, "completed")),
  },
};

/** An item on which work began. */
export function itemStarted(context: TranslationContext, item: ThreadItem): Translated {
  // The content of an extension item is known when it is complete.
  return isKnownItem(item) ? rowOf(item).started(context, item) : NOTHING;
}

/** An item in its final state. */
export function itemCompleted(context: TranslationContext, item: ThreadItem): Translated {
  return isKnownItem(item) ? rowOf(item).completed(context, item) : extension(context, item);
}

/** A past item, or one of the running turn as it is now. */
export function itemReplayed(
  context: TranslationContext,
  item: ThreadItem,
  turnId: string,
): readonly Update[] {
  if (!isKnownItem(item)) return extension(context, item).updates();
  const row = rowOf(item);
  if (row.replayed !== undefined) return row.replayed(context, item, turnId);
  return [...row.started(context, item).updates(), ...row.completed(context, item).updates()];
}

function rowOf(item: KnownItem): ItemRow<KnownItem> {
  const row: ItemRow<never> = ROWS[item.type];
  // The row is looked up by the type of the item that it gets; the union has lost which belong together.
  return row as ItemRow<KnownItem>;
}

/** The part of a text that the client lacks; all of it if the agent did not stream. */
function text(
  context: TranslationContext,
  kind: TextKind,
  itemId: string,
  field: string,
  whole: string,
): Translated {
  const { format, progress } = context;
  const sent = progress.sentLength(itemId, field);
  if (whole.length <= sent) return NOTHING;
  progress.recordText(itemId, field, whole.length);
  return shared(context, `${field} ${sent}`, () => format.text(kind, itemId, whole, sent));
}

function agentText(context: TranslationContext, item: Item<"agentMessage">): Translated {
  return text(context, "message", item.id, "text", item.text);
}

/** A task list is sent with `turn/plan/updated`; only a plan that is proposed as text is a message. */
function proposedPlan(context: TranslationContext, item: Item<"plan">): Translated {
  return item.entries === undefined ? text(context, "message", item.id, "text", item.text) : NOTHING;
}

function reviewStart(context: TranslationContext, item: Item<"enteredReviewMode">): Translated {
  const { format, progress } = context;
  if (progress.sentLength(item.id, "review") > 0) return NOTHING;
  progress.recordText(item.id, "review", 1);
  return shared(context, "review", () => format.reviewStarted(item));
}

function reasoning(context: TranslationContext, item: Item<"reasoning">): Translated {
  const { format, progress } = context;
  const { id, summary = "", content = "" } = item;
  const sent = { summary: progress.sentLength(id, "summary"), content: progress.sentLength(id, "content") };
  if (summary.length <= sent.summary && content.length <= sent.content) return NOTHING;
  progress.recordText(id, "summary", summary.length);
  progress.recordText(id, "content", content.length);
  return shared(context, `reasoning ${sent.summary} ${sent.content}`, () => format.reasoning(item, sent));
}

function toolItem(context: TranslationContext, item: ToolItem): Translated {
  const reason = context.progress.declined.get(item.id);
  const terminalId = context.progress.terminals.get(item.id);
  if (terminalId !== undefined) {
    const view = { ...toolView(item, context.cwd), outputs: [{ type: "terminal", terminalId } as const] };
    return { updates: toolCall(context, view).updates };
  }
  // A client that came after the answer does not know the reason.
  return toolCall(context, toolView(item, context.cwd, reason), reason === undefined ? "" : " declined");
}

function extension(context: TranslationContext, item: ExtensionItem): Translated {
  return toolCall(context, extensionView(item));
}

function toolCall(context: TranslationContext, view: ToolView, variant = ""): Translated {
  const isNew = context.progress.recordToolCall(view.id);
  const key = `${isNew ? "new" : "changed"}${variant}`;
  return shared(context, key, () => context.format.toolCall(view, isNew));
}
