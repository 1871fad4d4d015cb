import { appendAt, isDelta, LIMITS } from "@flint/protocol";
import { EventsLaggedError, type FlintConnectionError } from "../errors.ts";
import { type AgentEvent, eventThreadId } from "./agent-event.ts";

/** Receives events at once, in order. What it throws becomes a warning and does not affect other listeners. */
export interface EventListener {
  /** Only events of this thread; all, if absent. */
  readonly threadId?: string | undefined;
  event(event: AgentEvent): void;
  /** There will be no more events; without an error the client was closed on purpose. Called at most once. */
  ended(error: FlintConnectionError | undefined): void;
}

/** Delivers every event of a connection to its listeners, in the order in which they subscribed. */
export class EventHub {
  readonly #listeners = new Set<EventListener>();
  readonly #onFault: (error: unknown) => void;
  #end: { readonly error: FlintConnectionError | undefined } | undefined;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Adds a listener, from the next event on; call the result to remove it. */
  add(listener: EventListener): () => void {
    const end = this.#end;
    if (end === undefined) this.#listeners.add(listener);
    else this.#guard(() => listener.ended(end.error));
    return () => this.#listeners.delete(listener);
  }

  emit(event: AgentEvent): void {
    const threadId = eventThreadId(event);
    for (const listener of this.#listeners) {
      if (listener.threadId !== undefined && listener.threadId !== threadId) continue;
      this.#guard(() => listener.event(event));
    }
  }

  end(error: FlintConnectionError | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) this.#guard(() => listener.ended(error));
  }

  #guard(deliver: () => void): void {
    try {
      deliver();
    } catch (thrown) {
      // Listeners may be the caller's code; the others must still receive the event.
      this.#onFault(thrown);
    }
  }
}

/** Limits on the events that wait for a slow reader. */
export type BufferLimits = {
  /** With more events than this waiting, consecutive deltas of one text are merged. */
  readonly events: number;
  /** With more characters than this waiting, reading ends with an EventsLaggedError. */
  readonly characters: number;
};

/** The default limits of what may wait for a reader. */
export const BUFFER_LIMITS: BufferLimits = { events: 256, characters: LIMITS.clientQueue };

type Waiting = { readonly event: AgentEvent; readonly size: number };
type Reader = {
  resolve(result: IteratorResult<AgentEvent, undefined>): void;
  reject(error: Error): void;
};

// The size of an event besides its text.
const EVENT_SIZE = 200;
// Taken entries are cut off in one go, because shifting a long array one by one is slow.
const COMPACT_AT = 1024;

/**
 * Events in order, for one reader who may be slow. Nothing is lost silently: what waits is bounded, streamed text is
 * merged before the bound is met, and beyond it reading ends with an error that names where to attach again.
 */
export class EventStream implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #limits: BufferLimits;
  readonly #lastSeqs = new Map<string, number>();
  #waiting: Waiting[] = [];
  #taken = 0;
  #size = 0;
  #readers: Reader[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #release: () => void = () => {};

  constructor(limits: BufferLimits = BUFFER_LIMITS) {
    this.#limits = limits;
  }

  /** Called once the stream needs no more events. */
  onRelease(release: () => void): void {
    if (this.#end === undefined) this.#release = release;
    else release();
  }

  /** Delivers the event to a waiting reader, or buffers it. */
  push(event: AgentEvent): void {
    if (this.#end !== undefined) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ done: false, value: this.#delivered(event) });
    else this.#keep(event);
  }

  /** No more events: readers get what waits, then the end, or the error. */
  end(error?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#release();
    for (const reader of this.#readers.splice(0)) this.#finish(reader);
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const event = this.#take();
    if (event !== undefined) return Promise.resolve({ done: false, value: this.#delivered(event) });
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      if (this.#end === undefined) this.#readers.push(reader);
      else this.#finish(reader);
    });
  }

  /** Stops reading; the turn continues. */
  return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#drop();
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #keep(event: AgentEvent): void {
    const crowded = this.#waiting.length - this.#taken > this.#limits.events;
    const last = crowded ? this.#waiting.at(-1) : undefined;
    const merged = last === undefined ? undefined : mergeDeltas(last.event, event);
    if (last !== undefined && merged !== undefined) {
      this.#waiting.pop();
      this.#size -= last.size;
    }
    const queued = merged ?? event;
    const size = sizeOf(queued);
    this.#waiting.push({ event: queued, size });
    this.#size += size;
    if (this.#size > this.#limits.characters) this.#fallBehind();
  }

  #take(): AgentEvent | undefined {
    const next = this.#waiting[this.#taken];
    if (next === undefined) return undefined;
    this.#taken += 1;
    this.#size -= next.size;
    if (this.#taken === this.#waiting.length || this.#taken === COMPACT_AT) {
      this.#waiting = this.#waiting.slice(this.#taken);
      this.#taken = 0;
    }
    return next.event;
  }

  #fallBehind(): void {
    this.#drop();
    this.end(new EventsLaggedError(this.#limits.characters, new Map(this.#lastSeqs)));
  }

  #drop(): void {
    this.#waiting = [];
    this.#taken = 0;
    this.#size = 0;
  }

  #delivered(event: AgentEvent): AgentEvent {
    const threadId = eventThreadId(event);
    if (event.type !== "unknown" && event.seq !== undefined && threadId !== undefined) {
      this.#lastSeqs.set(threadId, event.seq);
    }
    return event;
  }

  #finish(reader: Reader): void {
    if (this.#end?.error === undefined) reader.resolve({ done: true, value: undefined });
    else reader.reject(this.#end.error);
  }
}

/** Two deltas of one text as one; undefined if they are not consecutive. */
function mergeDeltas(first: AgentEvent, second: AgentEvent): AgentEvent | undefined {
  if (first.type === "unknown" || second.type === "unknown" || first.type !== second.type) return undefined;
  if (!isDelta(first) || !isDelta(second)) return undefined;
  if (first.data.itemId !== second.data.itemId || first.data.turnId !== second.data.turnId) return undefined;
  // One in the log and one not yet: merged they would claim a position in the log that only one of them has.
  if ((first.seq === undefined) !== (second.seq === undefined)) return undefined;
  const offset = second.data.offset - first.data.offset;
  if (offset < 0 || offset > first.data.delta.length) return undefined;
  const delta = appendAt(first.data.delta, second.data.delta, offset);
  return { ...second, data: { ...second.data, delta, offset: first.data.offset } };
}

function sizeOf(event: AgentEvent): number {
  if (event.type === "unknown") return EVENT_SIZE + JSON.stringify(event.params ?? null).length;
  return EVENT_SIZE + (isDelta(event) ? event.data.delta.length : JSON.stringify(event.data).length);
}
