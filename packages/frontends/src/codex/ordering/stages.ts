import type { Clock } from "@flint/core/ports";
import {
  type Item,
  isKnownItem,
  type ThreadEvent,
  type ThreadItem,
  type ThreadStatus,
  threadIdOf,
} from "@flint/protocol";
import type { CodexThreadStatus } from "@flint/protocol/codex";
import type { Encoded } from "../../shared/encoder.ts";
import type { OutgoingNotification } from "../events/events.ts";
import { isShown } from "../events/items.ts";

/** One reordering of the events or lines that a client is sent. */
export interface Stage<Message> {
  /** Returns the events or lines that are passed on in place of one, in this order. */
  pass(message: Message): readonly Message[];
  /** The client is not subscribed to a thread any more; to none, if none is named. */
  forget(threadId?: string): void;
}

type Requested = Extract<ThreadEvent, { type: "approval/requested" }>;

/** The file changes of a thread that are in progress. */
interface OpenFileChanges {
  /** Those that the client knows. */
  readonly known: Set<string>;
  /** Those that have started and whose changes are not known. */
  readonly withheld: Set<string>;
}

/**
 * A file change is started before a client is asked about it. Clients show the change from the item, because the request
 * has none on this wire. A client that subscribed after the item started, or is asked by an agent that has not reported
 * the item yet, is sent its start with the request. A change that an agent is still writing starts once it is complete: with
 * the request or its end. What is known of it before is sent as updates of its patch, which come first in Codex too
 * (0.166.0).
 */
export class FileChangeOrder implements Stage<ThreadEvent> {
  readonly #threads = new Map<string, OpenFileChanges>();

  pass(event: ThreadEvent): readonly ThreadEvent[] {
    switch (event.type) {
      case "item/started":
        if (event.data.item.type !== "fileChange") return [event];
        if (isEmpty(event.data.item)) return this.#withhold(event.data.threadId, event.data.item.id);
        return this.#isNew(event.data.threadId, event.data.item.id) ? [event] : [];
      case "item/completed":
        return this.#completed(event);
      case "approval/requested": {
        const started = this.#startOf(event);
        return started === undefined ? [event] : [started, event];
      }
      case "turn/completed":
        this.forget(event.data.threadId);
        return [event];
      default:
        return [event];
    }
  }

  forget(threadId?: string): void {
    if (threadId === undefined) this.#threads.clear();
    else this.#threads.delete(threadId);
  }

  #withhold(threadId: string, itemId: string): readonly ThreadEvent[] {
    this.#openIn(threadId).withheld.add(itemId);
    return [];
  }

  #startOf({ data, at }: Requested): ThreadEvent | undefined {
    const { threadId, approval } = data;
    const { action, turnId } = approval;
    if (action.kind !== "fileChange" || !this.#isNew(threadId, action.itemId)) return undefined;
    return startOf({ threadId, turnId }, action.itemId, action.changes, at);
  }

  /** One that was never known in between starts right before its end. */
  #completed(event: Extract<ThreadEvent, { type: "item/completed" }>): readonly ThreadEvent[] {
    const { threadId, turnId, item } = event.data;
    if (!isKnownItem(item) || item.type !== "fileChange") return [event];
    const { known, withheld } = this.#openIn(threadId);
    const isUnknown = withheld.delete(item.id) && !known.has(item.id);
    known.delete(item.id);
    return isUnknown ? [startOf({ threadId, turnId }, item.id, item.changes, event.at), event] : [event];
  }

  #isNew(threadId: string, itemId: string): boolean {
    const { known } = this.#openIn(threadId);
    const isNew = !known.has(itemId);
    known.add(itemId);
    return isNew;
  }

  #openIn(threadId: string): OpenFileChanges {
    const open = this.#threads.get(threadId) ?? { known: new Set(), withheld: new Set() };
    this.#threads.set(threadId, open);
    return open;
  }
}

function isEmpty(item: ThreadItem): boolean {
  return isKnownItem(item) && item.type === "fileChange" && item.changes.length === 0;
}

/** The start of a file change with these changes. */
function startOf(
  ids: { readonly threadId: string; readonly turnId: string },
  id: string,
  changes: Item<"fileChange">["changes"],
  at: number,
): ThreadEvent {
  const item: Item<"fileChange"> = { type: "fileChange", id, changes, status: "inProgress" };
  return { type: "item/started", data: { ...ids, item }, at };
}

type Usage = Extract<ThreadEvent, { type: "thread/tokenUsage/updated" }>;

type ItemEvent = Extract<ThreadEvent, { type: "item/started" | "item/completed" }>;

/** The progress of a thread since its usage was last sent. */
interface Progress {
  readonly open: ReadonlySet<string>;
  readonly hasCompleted: boolean;
  readonly deferred: Usage | undefined;
}

const NO_PROGRESS: Progress = { open: new Set(), hasCompleted: false, deferred: undefined };

/**
 * Token usage comes after the item that it paid for, and at the latest before the turn completes, as in Codex. Agents
 * report it when they know it.
 */
export class DeferredUsage implements Stage<ThreadEvent> {
  readonly #threads = new Map<string, Progress>();

  pass(event: ThreadEvent): readonly ThreadEvent[] {
    switch (event.type) {
      case "thread/tokenUsage/updated":
        // Codex reports the calls of a sub-agent in the sub-agent's own thread; the next total has them.
        return event.data.parentItemId === undefined ? this.#reported(event) : [];
      case "item/started":
        if (isWork(event)) this.#started(event);
        return [event];
      case "item/completed":
        return isWork(event) ? this.#completed(event) : [event];
      case "turn/completed": {
        const { deferred } = this.#progress(event.data.threadId);
        this.#threads.delete(event.data.threadId);
        return deferred === undefined ? [event] : [deferred, event];
      }
      default:
        return [event];
    }
  }

  forget(threadId?: string): void {
    if (threadId === undefined) this.#threads.clear();
    else this.#threads.delete(threadId);
  }

  #reported(usage: Usage): readonly ThreadEvent[] {
    const { threadId } = usage.data;
    const { open, hasCompleted } = this.#progress(threadId);
    const isTimely = hasCompleted && open.size === 0;
    this.#update(threadId, () => (isTimely ? { hasCompleted: false } : { deferred: usage }));
    return isTimely ? [usage] : [];
  }

  #started({ data }: ItemEvent): void {
    this.#update(data.threadId, ({ open }) => ({ open: new Set([...open, data.item.id]) }));
  }

  #completed(event: ItemEvent): readonly ThreadEvent[] {
    const { threadId, item } = event.data;
    const { open, deferred } = this.#progress(threadId);
    const others = new Set([...open].filter((id) => id !== item.id));
    this.#update(threadId, () => ({
      open: others,
      hasCompleted: deferred === undefined,
      deferred: undefined,
    }));
    return deferred === undefined ? [event] : [event, deferred];
  }

  #progress(threadId: string): Progress {
    return this.#threads.get(threadId) ?? NO_PROGRESS;
  }

  #update(threadId: string, change: (progress: Progress) => Partial<Progress>): void {
    const progress = this.#progress(threadId);
    this.#threads.set(threadId, { ...progress, ...change(progress) });
  }
}

/** A user's message is not work of the agent, and an item that is not shown cannot be waited for. */
function isWork({ data }: ItemEvent): boolean {
  const { item } = data;
  return !isKnownItem(item) || (item.type !== "userMessage" && isShown(item));
}

type Started = Extract<ThreadEvent, { type: "item/started" }>;

/** Time within which an agent asks about a command that it has just reported. */
const ASKED_WITHIN_MS = 20;

/**
 * A thread waits on approval before the command starts that it waits for, as in Codex. Agents report the command first; so
 * its start is deferred until it is known whether the user is asked.
 */
export class DeferredStart implements Stage<ThreadEvent> {
  readonly #clock: Clock;
  readonly #late: (event: ThreadEvent) => void;
  readonly #deferred = new Map<string, { readonly event: Started; cancel(): void }>();

  /** `late` passes on the start of a command that the user was not asked about in time. */
  constructor(clock: Clock, late: (event: ThreadEvent) => void) {
    this.#clock = clock;
    this.#late = late;
  }

  pass(event: ThreadEvent): readonly ThreadEvent[] {
    const threadId = threadIdOf(event);
    if (threadId === undefined) return [event];
    const started = this.#take(threadId);
    if (event.type === "item/started" && event.data.item.type === "commandExecution") {
      this.#defer(threadId, event);
      return started === undefined ? [] : [started];
    }
    if (started === undefined) return [event];
    return isAbout(event, started) ? [waiting(event, threadId), started, event] : [started, event];
  }

  forget(threadId?: string): void {
    for (const id of threadId === undefined ? [...this.#deferred.keys()] : [threadId]) this.#take(id);
  }

  #defer(threadId: string, event: Started): void {
    const cancel = this.#clock.after(ASKED_WITHIN_MS, () => {
      if (this.#take(threadId) !== undefined) this.#late(event);
    });
    this.#deferred.set(threadId, { event, cancel });
  }

  #take(threadId: string): Started | undefined {
    const deferred = this.#deferred.get(threadId);
    deferred?.cancel();
    this.#deferred.delete(threadId);
    return deferred?.event;
  }
}

function isAbout(event: ThreadEvent, { data }: Started): boolean {
  return event.type === "approval/requested" && event.data.approval.action.itemId === data.item.id;
}

function waiting({ at }: ThreadEvent, threadId: string): ThreadEvent {
  const status: ThreadStatus = { type: "active", activeFlags: ["waitingOnApproval"] };
  return { type: "thread/status/changed", data: { threadId, status }, at };
}

/** A notification that is ready to be sent. */
export type Line = Encoded<OutgoingNotification>;

/** A status is sent when it changes. Several events imply the same one, and a client may know it from an answer. */
export class StatusChanges implements Stage<Line> {
  readonly #known = new Map<string, string>();

  pass(line: Line): readonly Line[] {
    const { status } = line.notification;
    return status === undefined || this.learn(status.threadId, status.status) ? [line] : [];
  }

  /** Notes what the client learns of a thread. False if it knew. A thread that failed stays so until a turn starts. */
  learn(threadId: string, { type, activeFlags = [] }: CodexThreadStatus): boolean {
    const before = this.#known.get(threadId) ?? "idle";
    const now = [type, ...activeFlags].join(" ");
    if (now === before || (now === "idle" && before === "systemError")) return false;
    // Clients assume that a thread is idle, so that need not be stored.
    if (now === "idle") this.#known.delete(threadId);
    else this.#known.set(threadId, now);
    return true;
  }

  forget(): void {
    // A client that comes back to a thread still knows what it did.
  }
}
