import type { EventData } from "../events.ts";
import { type Item, isKnownItem, type ThreadItem } from "../items.ts";
import type { ChildThread } from "./thread.ts";

/** Maximum number of child threads that a thread remembers; their items stay in its turns. */
const MAX_CHILDREN = 200;
const MAX_PREVIEW = 100;

/** The call that started a sub-agent with a thread of its own; undefined for any other item. */
export function subAgentCallOf(
  item: ThreadItem,
): (Item<"toolCall"> & { subAgent: { threadId: string } }) | undefined {
  if (!isKnownItem(item) || item.type !== "toolCall") return undefined;
  const { subAgent } = item;
  if (subAgent?.threadId === undefined) return undefined;
  return { ...item, subAgent: { ...subAgent, threadId: subAgent.threadId } };
}

/** The child threads after an item has started or ended; undefined if that changes nothing about them. */
export function withChildOf(
  { turnId, item }: EventData<"item/started">,
  known: readonly ChildThread[] = [],
  at: number,
): ChildThread[] | undefined {
  const call = subAgentCallOf(item);
  if (call === undefined) return undefined;
  const { threadId: id, prompt, kind } = call.subAgent;
  const before = known.find((child) => child.id === id);
  const updatedAt = Math.floor(at / 1000);
  if (before !== undefined) {
    const updated = { ...before, status: call.status, updatedAt };
    return known.map((child) => (child === before ? updated : child));
  }
  const parent = known.find((child) => child.turnId === turnId && child.itemId === call.parentItemId);
  const name = call.title ?? kind;
  const started: ChildThread = {
    ...{ id, turnId, itemId: call.id },
    ...(parent === undefined ? {} : { parentThreadId: parent.id }),
    ...(name === undefined ? {} : { name: name.slice(0, MAX_PREVIEW) }),
    preview: (prompt ?? name ?? call.tool).slice(0, MAX_PREVIEW),
    ...{ createdAt: updatedAt, updatedAt, status: call.status },
  };
  return [...withRoom(known), started];
}

/** The child threads without the oldest that has ended, if there is no room for one more. */
function withRoom(known: readonly ChildThread[]): readonly ChildThread[] {
  if (known.length < MAX_CHILDREN) return known;
  const oldest = known.find(({ status }) => status !== "inProgress");
  return known.filter((child) => child !== oldest);
}

/** The child threads after their turns were dropped from the conversation, or are part of it again. */
export function markReverted(
  known: readonly ChildThread[],
  turnIds: ReadonlySet<string>,
  isReverted: boolean,
): ChildThread[] {
  return known.map((child) => {
    if (!turnIds.has(child.turnId)) return child;
    const { reverted: _before, ...kept } = child;
    return isReverted ? { ...kept, reverted: true } : kept;
  });
}
