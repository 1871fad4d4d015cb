import { type ExtensionItem, type Item, type ItemType, isKnownItem, type ThreadItem } from "@flint/protocol";
import { count } from "./amounts.ts";
import type { Block, Row, RowAction, RowStatus, Span } from "./row.ts";
import { argumentWords, callBlocks } from "./rows/calls.ts";
import { diffBlock } from "./rows/diff.ts";
import { inputBlocks } from "./rows/images.ts";

/** The presentation of one item type. */
interface ItemView<Type extends ItemType> {
  /** The activity of the agent while such an item is in progress. */
  readonly activity: string;
  /** The events of the item that get a line in a log of events. */
  readonly logged: "started" | "completed" | "both" | "never";
  readonly row: (item: Item<Type>) => RowContent;
}

/** The parts of a row that a renderer decides; the rest has defaults. */
type RowContent = Pick<Row, "family"> & Partial<Omit<Row, "key" | "itemId" | "turnId" | "depth">>;

/** The presentation of every item type: terminal, transcript, export and event descriptions derive from it. */
const ITEM_VIEWS: { readonly [Type in ItemType]: ItemView<Type> } = {
  userMessage: {
    activity: "Working",
    logged: "never",
    row: (item) => ({ family: "user", meta: senderOf(item), body: inputBlocks(item.content) }),
  },
  agentMessage: {
    activity: "Writing",
    logged: "never",
    row: ({ text }) => ({ family: "message", body: [{ kind: "markdown", text }] }),
  },
  subAgentMessage: {
    activity: "Working",
    logged: "never",
    row: ({ text }) => ({ family: "message", body: [{ kind: "markdown", text }] }),
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
      body: review.trim() === "" ? [] : [{ kind: "markdown", text: review }],
    }),
  },
  contextCompaction: {
    activity: "Compacting the context",
    logged: "completed",
    row: ({ summary = "" }) => ({
      family: "notice",
      title: [{ text: "Context compacted" }],
      ...(summary.trim() === ""
        ? {}
        : { body: [{ kind: "markdown", text: summary }], fold: "closed" as const }),
    }),
  },
  agentHandoff: {
    activity: "Switching agents",
    logged: "completed",
    row: handoffRow,
  },
  hookRun: { activity: "Running a hook", logged: "completed", row: hookRow },
};

/** Presentation of an item of an unknown type, which may have any shape, in a log of events. */
const EXTENSION_VIEW = { activity: "Working", logged: "started" } as const;

const rows = new WeakMap<ThreadItem, Row>();

/** The row of an item. The same item object always gives the same row. */
export function rowOf(item: ThreadItem): Row {
  const known = rows.get(item);
  if (known !== undefined) return known;
  const content = isKnownItem(item) ? viewOf(item.type).row(item) : extensionRow(item);
  const actions = actionsOf(content);
  const row: Row = {
    ...{ key: item.id, itemId: item.id, status: "completed", title: [], meta: [], body: [], depth: 0 },
    ...content,
    actions,
  };
  rows.set(item, row);
  return row;
}

/** Returns the actions on a row, which follow from its content. */
function actionsOf({ fold, body = [], family, actions = [] }: RowContent): readonly RowAction[] {
  return [
    ...(fold === undefined ? [] : (["toggleFold"] as const)),
    ...(body.some(({ kind }) => kind === "image") ? (["openImage"] as const) : []),
    ...(family === "user" ? (["rewindToRow", "forkAtRow"] as const) : []),
    ...(family === "change" ? (["showDiff"] as const) : []),
    ...actions,
    "copyRow",
  ];
}

/** Returns the activity of the agent while an item is in progress, for a status line. */
export function activityOf(item: ThreadItem): string {
  return isKnownItem(item) ? viewOf(item.type).activity : EXTENSION_VIEW.activity;
}

/** Reports whether the start or the end of an item gets a line in a log of events. */
export function isLogged(item: ThreadItem, when: "started" | "completed"): boolean {
  const { logged } = isKnownItem(item) ? viewOf(item.type) : EXTENSION_VIEW;
  return logged === "both" || logged === when;
}

function viewOf(type: ItemType): ItemView<ItemType> {
  // Each row takes the items of its own type, which TypeScript cannot follow through the lookup.
  return ITEM_VIEWS[type] as ItemView<ItemType>;
}

function commandRow(item: Item<"commandExecution">): RowContent {
  const { command, exitCode, omittedOutputBytes = 0, durationMs } = item;
  const failed = item.status === "completed" && (exitCode ?? 0) !== 0;
  const status = failed ? "failed" : item.status;
  const text = withDenials(item);
  const isEmpty = text === "";
  const output: Block = { kind: "output", text, omittedBytes: omittedOutputBytes };
  const isBackground = item._meta?.background !== undefined;
  return {
    family: "command",
    status,
    title: [{ text: command, emphasis: "strong", exact: true }],
    meta: [
      ...(item.source === "userShell" ? [muted("typed by you")] : []),
      ...(isBackground ? [muted("in the background")] : []),
      ...refusedHosts(item),
      ...allowedBy(item),
    ],
    outcome: exitCode === undefined ? outcomeOf(status) : `exit ${exitCode}`,
    durationMs,
    body: isEmpty && omittedOutputBytes === 0 ? [] : [output],
    fold: isEmpty ? undefined : "closed",
    actions: isBackground && status !== "declined" ? ["stopCommand"] : [],
  };
}

/** The output of a command, and after it what the sandbox kept it from. */
function withDenials({ aggregatedOutput: output = "", denials = [] }: Item<"commandExecution">): string {
  if (denials.length === 0) return output;
  const before = output === "" || output.endsWith("\n") ? output : `${output}\n`;
  return `${before}${denials.map((sentence) => `(${sentence})\n`).join("")}`;
}

/** The hosts that a command was not allowed to connect to. */
function refusedHosts({ connections = [] }: Item<"commandExecution">): Span[] {
  const hosts = connections.filter(({ allowed }) => !allowed).map(({ host }) => host);
  return hosts.length === 0 ? [] : [muted(`refused: ${[...new Set(hosts)].join(", ")}`)];
}

/** The rule of a policy file or the grant of the user that allowed it without asking. What the settings allow is no news. */
function allowedBy({ allowed }: Pick<Item<"commandExecution">, "allowed">): Span[] {
  return allowed?.by === "policyFile" || allowed?.by === "grant" ? [muted(allowed.reason)] : [];
}

/** The client that sent a message, if that is known. */
function senderOf({ client = "" }: Item<"userMessage">): Span[] {
  return client === "" ? [] : [muted(`from ${client}`)];
}

function handoffRow({ fromAgent, toAgent, missedTurns }: Item<"agentHandoff">): RowContent {
  const got = missedTurns === 0 ? "" : `got a summary of ${count(missedTurns, "turn")}`;
  return {
    family: "handoff",
    title: [{ text: `${toAgent} continues in place of ${fromAgent}` }],
    meta: got === "" ? [] : [muted(got)],
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

function changeRow(item: Item<"fileChange">): RowContent {
  const { changes, status } = item;
  const [first] = changes;
  const verb = first === undefined ? "Change" : changeVerb(first.kind, status);
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : "";
  return {
    family: "change",
    status,
    title: [
      { text: `${verb} ` },
      strong(first?.path ?? (status === "inProgress" ? "files" : "no files")),
      { text: more },
    ],
    meta: allowedBy(item),
    outcome: outcomeOf(status),
    body: changes.map(diffBlock),
    fold: "closed",
  };
}

function toolRow(item: Item<"mcpToolCall"> | Item<"toolCall">, name: string): RowContent {
  const { status, durationMs } = item;
  const body = callBlocks(item);
  return {
    family: "tool",
    status,
    title: [strong(name)],
    meta: [...argumentWords(item.arguments, name), ...allowedBy(item)],
    outcome: outcomeOf(status),
    durationMs,
    body,
    fold: body.length === 0 ? undefined : "closed",
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
    ...(output === "" ? {} : { body: [{ kind: "text", text: output }], fold: "closed" as const }),
  };
}

function thoughtRow(text: string): RowContent {
  if (text === "") return { family: "thought" };
  return { family: "thought", body: [{ kind: "markdown", text }], fold: "closed" };
}

function planRow({ text, entries }: Item<"plan">): RowContent {
  const block: Block = entries === undefined ? { kind: "markdown", text } : { kind: "plan", entries };
  const isEmpty = entries === undefined ? text.trim() === "" : entries.length === 0;
  return { family: "plan", title: [{ text: "Plan" }], body: isEmpty ? [] : [block] };
}

/** An item of an unknown type is shown like a tool call: its type, its id, whatever text it has, and its fields. */
function extensionRow({ type, id, _meta, ...fields }: ExtensionItem): RowContent {
  const texts = Object.values(fields).filter((value) => typeof value === "string");
  const isMore = Object.values(fields).some((value) => typeof value === "object" && value !== null);
  return {
    family: "unknown",
    status: statusIn(fields),
    title: [strong(type), { text: [` ${id}`, ...texts].join(" ") }],
    ...(isMore ? { body: [{ kind: "json", label: "fields", value: fields }], fold: "closed" as const } : {}),
  };
}

/** The status of an item of an unknown type, if it has one that we know. */
function statusIn({ status }: Readonly<Record<string, unknown>>): RowStatus {
  return status === "inProgress" || status === "failed" || status === "declined" ? status : "completed";
}

function outcomeOf(status: RowStatus): string | undefined {
  return status === "failed" || status === "declined" ? status : undefined;
}

function muted(text: string): Span {
  return { text, emphasis: "muted" };
}

function strong(text: string): Span {
  return { text, emphasis: "strong" };
}
