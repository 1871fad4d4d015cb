import {
  type ExtensionItem,
  type Item,
  type ItemType,
  inputText,
  isKnownItem,
  type ThreadItem,
  type Turn,
} from "@flint/protocol";
import { type Block, diffBlock, type Row, type RowStatus, type Span } from "./row.ts";

/** How one item type is presented. */
interface ItemView<Type extends ItemType> {
  /** What the agent is doing while such an item is in progress. */
  readonly activity: string;
  /** Which of its events get a line in a log of events. */
  readonly logged: "started" | "completed" | "both" | "never";
  readonly row: (item: Item<Type>) => RowContent;
}

type RowContent = Omit<Row, "key" | "status" | "title" | "body"> &
  Partial<Pick<Row, "status" | "title" | "body">>;

/** The presentation of every item type: terminal, transcript, export and event descriptions derive from it. */
const ITEM_VIEWS: { readonly [Type in ItemType]: ItemView<Type> } = {
  userMessage: {
    activity: "Working",
    logged: "never",
    row: ({ content }) => ({ family: "user", body: [{ kind: "text", text: inputText(content) }] }),
  },
  agentMessage: {
    activity: "Writing",
    logged: "never",
    row: ({ text }) => ({ family: "message", body: [{ kind: "markdown", text }] }),
  },
  subAgentMessage: {
    activity: "Working",
    logged: "never",
    row: ({ text }) => ({ family: "notice", body: [{ kind: "markdown", text }] }),
  },
  reasoning: {
    activity: "Thinking",
    logged: "never",
    row: ({ summary, content }) => thoughtRow((summary || content || "").trim()),
  },
  commandExecution: { activity: "Running a command", logged: "both", row: commandRow },
  fileChange: { activity: "Editing files", logged: "both", row: changeRow },
  mcpToolCall: {
    activity: "Calling a tool",
    logged: "both",
    row: (item) => toolRow(item, `${item.server}.${item.tool}`),
  },
  toolCall: {
    activity: "Calling a tool",
    logged: "both",
    row: (item) => toolRow(item, item.title ?? item.tool),
  },
  webSearch: {
    activity: "Searching the web",
    logged: "started",
    row: ({ query }) => ({ family: "search", title: [{ text: "Web search: " }, strong(query)] }),
  },
  plan: { activity: "Planning", logged: "completed", row: planRow },
  enteredReviewMode: {
    activity: "Reviewing",
    logged: "started",
    row: ({ review }) => ({ family: "review", title: [{ text: "Review: " }, strong(review)] }),
  },
  exitedReviewMode: {
    activity: "Reviewing",
    logged: "completed",
    row: ({ review }) => ({
      family: "review",
      title: [{ text: "Review finished" }],
      body: [{ kind: "markdown", text: review }],
    }),
  },
  contextCompaction: {
    activity: "Compacting the context",
    logged: "completed",
    row: () => ({ family: "notice", title: [{ text: "Context compacted" }] }),
  },
  agentHandoff: {
    activity: "Switching agents",
    logged: "completed",
    row: ({ fromAgent, toAgent }) => ({
      family: "notice",
      title: [{ text: `${toAgent} continues in place of ${fromAgent}` }],
    }),
  },
  hookRun: { activity: "Running a hook", logged: "completed", row: hookRow },
};

/** What a log of events needs to know about an item of an unknown type, which may have any shape. */
const EXTENSION_VIEW = { activity: "Working", logged: "started" } as const;

const rows = new WeakMap<ThreadItem, Row>();

/** The row of an item. The same item object always gives the same row. */
export function rowOf(item: ThreadItem): Row {
  const known = rows.get(item);
  if (known !== undefined) return known;
  const content = isKnownItem(item) ? viewOf(item.type).row(item) : extensionRow(item);
  const row: Row = { key: item.id, status: "completed", title: [], body: [], ...content };
  rows.set(item, row);
  return row;
}

/** The rows of turns, in order. */
export function rowsOf(turns: readonly Turn[]): readonly Row[] {
  return turns.flatMap(({ items }) => items.map(rowOf));
}

/** What the agent is doing while an item is in progress, for a status line. */
export function activityOf(item: ThreadItem): string {
  return isKnownItem(item) ? viewOf(item.type).activity : EXTENSION_VIEW.activity;
}

/** Whether the start or the end of an item gets a line in a log of events. */
export function isLogged(item: ThreadItem, when: "started" | "completed"): boolean {
  const { logged } = isKnownItem(item) ? viewOf(item.type) : EXTENSION_VIEW;
  return logged === "both" || logged === when;
}

function viewOf(type: ItemType): ItemView<ItemType> {
  // Each row takes the items of its own type, which TypeScript cannot follow through the lookup.
  return ITEM_VIEWS[type] as ItemView<ItemType>;
}

function commandRow(item: Item<"commandExecution">): RowContent {
  const { command, exitCode, aggregatedOutput, omittedOutputBytes = 0, durationMs } = item;
  const failed = item.status === "completed" && (exitCode ?? 0) !== 0;
  const status = failed ? "failed" : item.status;
  const isEmpty = aggregatedOutput === undefined || aggregatedOutput === "";
  const output: Block = { kind: "output", text: aggregatedOutput ?? "", omittedBytes: omittedOutputBytes };
  return {
    family: "command",
    status,
    title: [{ text: command, emphasis: "strong", exact: true }],
    outcome: exitCode === undefined ? outcomeOf(status) : `exit ${exitCode}`,
    durationMs,
    body: isEmpty && omittedOutputBytes === 0 ? [] : [output],
  };
}

const CHANGE_VERBS = {
  add: { done: "Added", planned: "Add" },
  modify: { done: "Changed", planned: "Change" },
  delete: { done: "Deleted", planned: "Delete" },
} as const;

/** The verb for a change of a file, in the tense of its status. */
export function changeVerb(change: keyof typeof CHANGE_VERBS, status: RowStatus): string {
  return CHANGE_VERBS[change][status === "completed" ? "done" : "planned"];
}

function changeRow({ changes, status }: Item<"fileChange">): RowContent {
  const [first] = changes;
  const verb = first === undefined ? "Change" : changeVerb(first.kind, status);
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : "";
  return {
    family: "change",
    status,
    title: [{ text: `${verb} ` }, strong(first?.path ?? "no files"), { text: more }],
    outcome: outcomeOf(status),
    body: changes.map(diffBlock),
  };
}

function toolRow(item: Item<"mcpToolCall"> | Item<"toolCall">, name: string): RowContent {
  const { status, error, durationMs, arguments: given } = item;
  const isEmpty = given === undefined || given === null || JSON.stringify(given) === "{}";
  return {
    family: "tool",
    status,
    title: [strong(name)],
    outcome: outcomeOf(status),
    durationMs,
    body: [
      ...(isEmpty ? [] : [{ kind: "json", label: "arguments", value: given } as const]),
      ...(error === undefined ? [] : [{ kind: "error", text: error } as const]),
    ],
  };
}

function hookRow({ event, name, status, output = "", durationMs }: Item<"hookRun">): RowContent {
  const isFailure = status === "failed" || status === "blocked" || status === "stopped";
  return {
    family: "notice",
    status: isFailure ? "failed" : status,
    title: [{ text: "Hook " }, strong(name ?? event)],
    outcome: isFailure ? status : undefined,
    durationMs,
    body: output === "" ? [] : [{ kind: "text", text: output }],
  };
}

function thoughtRow(text: string): RowContent {
  return { family: "thought", body: text === "" ? [] : [{ kind: "markdown", text }] };
}

function planRow({ text, entries }: Item<"plan">): RowContent {
  const block: Block = entries === undefined ? { kind: "markdown", text } : { kind: "plan", entries };
  const isEmpty = entries === undefined ? text.trim() === "" : entries.length === 0;
  return { family: "plan", title: [{ text: "Plan" }], body: isEmpty ? [] : [block] };
}

/** An item of an unknown type is shown like a tool call: its type, its id, and whatever text it has. */
function extensionRow({ type, id, ...fields }: ExtensionItem): RowContent {
  const texts = Object.values(fields).filter((value) => typeof value === "string");
  return { family: "unknown", title: [strong(type), { text: [` ${id}`, ...texts].join(" ") }] };
}

function outcomeOf(status: RowStatus): string | undefined {
  return status === "failed" || status === "declined" ? status : undefined;
}

function strong(text: string): Span {
  return { text, emphasis: "strong" };
}
