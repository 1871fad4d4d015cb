import {
  type ChildThread,
  type EventBody,
  type StoredEvent,
  subAgentCallOf,
  type ThreadEvent,
  type ThreadItem,
  threadIdOf,
} from "@flint/protocol";
import type { Subscriber } from "../thread/subscription.ts";
import { answerOf, promptOf, SubAgentItems, turnEnd, turnStart, viewItem } from "./child-view.ts";

/** Makes the events of a child thread from those of the thread that has the log. */
export class ChildEvents {
  readonly #child: ChildThread;
  readonly #members: SubAgentItems;

  /** `known`: the items of the turn so far, for a client that starts in the middle of it. */
  constructor(child: ChildThread, known: readonly ThreadItem[]) {
    this.#child = child;
    this.#members = new SubAgentItems(child);
    for (const item of known) this.#members.take(item);
  }

  /**
   * The events of the child thread that an event stands for; the same for events that are its own already. At most one
   * has a number, the last one that is stored: a client that has it has the others.
   */
  of(event: ThreadEvent): readonly ThreadEvent[] {
    if (threadIdOf(event) === this.#child.id) return [event];
    const { seq, at } = event;
    const bodies = this.#bodies(event);
    const last = bodies.findLastIndex(({ type }) => type !== "thread/status/changed");
    return bodies.map((body, index) => ({
      ...body,
      at,
      ...(seq === undefined || index !== last ? {} : { seq }),
    }));
  }

  /** The stored events of the child thread among those of a log: at most one for each number. */
  async *stored(log: AsyncIterable<StoredEvent>): AsyncIterable<StoredEvent> {
    for await (const { seq, ...event } of log) {
      const own = this.of(event);
      const first = own.find(({ type }) => type === "turn/completed") ?? own[0];
      if (first?.type !== "turn/started") {
        if (first !== undefined) yield { ...first, seq };
        continue;
      }
      const items = own.flatMap(({ type, data }) => (type === "item/completed" ? [data.item] : []));
      yield { ...first, data: { ...first.data, turn: { ...first.data.turn, items } }, seq };
    }
  }

  #bodies(event: ThreadEvent): readonly EventBody[] {
    const threadId = this.#child.id;
    switch (event.type) {
      case "item/started":
      case "item/completed":
        return this.#itemBodies(event.type, event.data.item, event.at);
      case "item/agentMessage/delta":
      case "item/reasoning/textDelta":
      case "item/reasoning/summaryTextDelta":
      case "item/commandExecution/outputDelta":
      case "item/fileChange/outputDelta":
      case "item/plan/delta":
        return this.#ofItem(event.data.itemId, {
          type: event.type,
          data: { ...event.data, threadId, turnId: threadId },
        });
      case "item/fileChange/patchUpdated":
        return this.#ofItem(event.data.itemId, {
          type: event.type,
          data: { ...event.data, threadId, turnId: threadId },
        });
      case "item/mcpToolCall/progress":
        return this.#ofItem(event.data.itemId, {
          type: event.type,
          data: { ...event.data, threadId, turnId: threadId },
        });
      case "thread/archived":
      case "thread/unarchived":
      case "thread/deleted":
      case "thread/closed":
        return [{ type: event.type, data: { threadId } }];
      case "warning":
        return event.data.reason === "followingFailed"
          ? [{ type: "warning", data: { ...event.data, threadId } }]
          : [];
      // Requests, usage, cost and settings are those of the thread that the sub-agent works for.
      default:
        return [];
    }
  }

  #ofItem(itemId: string, body: EventBody): readonly EventBody[] {
    return this.#members.has(itemId) && itemId !== this.#child.itemId ? [body] : [];
  }

  #itemBodies(type: "item/started" | "item/completed", item: ThreadItem, at: number): readonly EventBody[] {
    if (item.id === this.#child.itemId) return this.#callBodies(type, item, at);
    if (!this.#members.take(item)) return [];
    return [this.#itemBody(type, viewItem(this.#child, item))];
  }

  /** The call that started the sub-agent is the turn of its thread. */
  #callBodies(type: "item/started" | "item/completed", item: ThreadItem, at: number): readonly EventBody[] {
    const { id: threadId } = this.#child;
    const call = subAgentCallOf(item);
    if (call === undefined) return [];
    const started = turnStart(this.#child);
    const status = (active: boolean): EventBody => ({
      type: "thread/status/changed",
      data: { threadId, status: active ? { type: "active", activeFlags: [] } : { type: "idle" } },
    });
    if (type === "item/started") {
      const prompt = this.#messageBodies(promptOf(call));
      return [{ type: "turn/started", data: { threadId, turn: started } }, ...prompt, status(true)];
    }
    const turn = { ...started, ...turnEnd(call, at), itemsView: "notLoaded" as const };
    const answer = this.#messageBodies(answerOf(call, this.#members));
    return [...answer, { type: "turn/completed", data: { threadId, turn } }, status(false)];
  }

  #messageBodies(messages: readonly ThreadItem[]): readonly EventBody[] {
    return messages.flatMap((message) => [
      this.#itemBody("item/started", message),
      this.#itemBody("item/completed", message),
    ]);
  }

  #itemBody(type: "item/started" | "item/completed", item: ThreadItem): EventBody {
    const { id } = this.#child;
    return { type, data: { threadId: id, turnId: id, item } };
  }
}

/** A subscriber of the log that passes on only the events of a child thread. */
export function childSubscriber(subscriber: Subscriber, events: ChildEvents): Subscriber {
  return {
    send: (event) => {
      for (const own of events.of(event)) subscriber.send(own);
    },
    isFull: () => subscriber.isFull(),
  };
}
