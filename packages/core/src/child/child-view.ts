import {
  type ChildThread,
  FlintError,
  type Item,
  isKnownItem,
  subAgentCallOf,
  type Thread,
  type ThreadItem,
  type Turn,
} from "@flint/protocol";

/**
 * The thread of a sub-agent is a view of the thread that it works for, whose log has everything about both: nothing is
 * stored twice, and it is archived, reverted and deleted with the other.
 */
export function viewThread(owner: Thread, child: ChildThread): Thread {
  const { id, name, preview, createdAt, updatedAt, status } = child;
  const { modelProvider, model, cwd, archived, ephemeral } = owner;
  const children = (owner.childThreads ?? []).filter(({ parentThreadId }) => parentThreadId === id);
  return {
    ...{ id, preview, modelProvider, model, cwd, createdAt, updatedAt, archived, ephemeral },
    ...(name === undefined ? {} : { name }),
    status: owner.status.type === "notLoaded" ? owner.status : statusOf(status),
    ...(status === "failed" ? { lastTurnFailed: true } : {}),
    parentThreadId: child.parentThreadId ?? owner.id,
    ...(children.length === 0 ? {} : { childThreads: children }),
  };
}

function statusOf(status: ChildThread["status"]): Thread["status"] {
  return status === "inProgress" ? { type: "active", activeFlags: [] } : { type: "idle" };
}

/** The only turn of a child thread: the prompt of the sub-agent, and what it did. It has the id of the thread. */
export function viewTurn(child: ChildThread, { items }: Turn): Turn {
  const members = new SubAgentItems(child);
  const call = items.map(subAgentCallOf).find((item) => item?.id === child.itemId);
  const done = items.filter((item) => members.take(item)).map((item) => viewItem(child, item));
  return {
    ...turnStart(child),
    ...(call === undefined ? {} : turnEnd(call, child.updatedAt * 1000)),
    items: [
      ...(call === undefined ? [] : promptOf(call)),
      ...done,
      ...(call === undefined ? [] : answerOf(call, members)),
    ],
    itemsView: "full",
  };
}

/** The turn when the sub-agent has just been started. */
export function turnStart({ id, createdAt }: ChildThread): Turn {
  return { id, status: "inProgress", items: [], startedAtMs: createdAt * 1000 };
}

/** The outcome of the turn; empty while the sub-agent works. */
export function turnEnd(
  { status, error }: Item<"toolCall">,
  completedAtMs: number,
): Pick<Turn, "status" | "error" | "completedAtMs"> | undefined {
  if (status === "inProgress") return undefined;
  if (status === "completed") return { status, completedAtMs };
  const message = error ?? (status === "declined" ? "It was not allowed to start." : "It did not complete.");
  return { status: "failed", error: { message }, completedAtMs };
}

/** The prompt of the sub-agent, as the message of the user; empty if its agent does not report it. */
export function promptOf({ subAgent }: Item<"toolCall">): Item<"userMessage">[] {
  const { threadId, prompt } = subAgent ?? {};
  if (threadId === undefined || prompt === undefined) return [];
  return [{ type: "userMessage", id: `${threadId}-prompt`, content: [{ type: "text", text: prompt }] }];
}

/**
 * Returns the answer of the sub-agent as its last message; empty if that is one of its messages already, as
 * with some agents.
 */
export function answerOf(
  { subAgent, status, result }: Item<"toolCall">,
  said: SubAgentItems,
): Item<"agentMessage">[] {
  if (subAgent?.threadId === undefined || status !== "completed") return [];
  if (typeof result !== "string" || result === "" || said.hasSaid(result)) return [];
  return [{ type: "agentMessage", id: `${subAgent.threadId}-answer`, text: result }];
}

/** An item as the child thread shows it: what the sub-agent says is a message of the agent there. */
export function viewItem({ itemId }: ChildThread, item: ThreadItem): ThreadItem {
  if (!isKnownItem(item) || item.parentItemId !== itemId) return item;
  const { parentItemId: _call, ...own } = item;
  return own.type === "subAgentMessage" ? { ...own, type: "agentMessage" } : own;
}

/** The items of a turn that are the work of a sub-agent, or of one that it started. */
export class SubAgentItems {
  readonly #ids: Set<string>;
  readonly #said = new Set<string>();

  constructor({ itemId }: ChildThread) {
    this.#ids = new Set([itemId]);
  }

  has(itemId: string): boolean {
    return this.#ids.has(itemId);
  }

  /** Reports whether this is the text of a message among them. */
  hasSaid(text: string): boolean {
    return this.#said.has(text);
  }

  /** Reports whether an item is one of them; to be called in the order in which they started. */
  take(item: ThreadItem): boolean {
    const parentItemId: unknown = Reflect.get(item, "parentItemId");
    if (typeof parentItemId !== "string" || !this.#ids.has(parentItemId)) return false;
    this.#ids.add(item.id);
    if (isKnownItem(item) && item.type === "subAgentMessage") this.#said.add(item.text);
    return true;
  }
}

/** The error for what can only be done in the thread that a sub-agent works for. */
export function isReadOnly(child: ChildThread, owner: Thread): FlintError {
  const parentThreadId = child.parentThreadId ?? owner.id;
  const message = `Thread ${child.id} shows the work of a sub-agent and can only be read. Its agent takes input and changes in thread ${owner.id}.`;
  return new FlintError("unsupported", message, { threadId: child.id, parentThreadId });
}
