import type { TaskState } from "@flint/protocol";
import type { Redis } from "ioredis";
import type { TaskKeys } from "./keys.ts";
import { eventsOf, feedEvents, field, type StreamEntry } from "./log.ts";
import { endConnection } from "./redis-connection.ts";
import type { Replica } from "./replica.ts";

/** Dependencies of following the feed. */
interface FeedOptions {
  readonly redis: Redis;
  /** A connection of its own, because waiting blocks it. */
  readonly listening: Redis;
  readonly keys: TaskKeys;
  readonly replica: Replica;
}

/** Duration of one wait. After it everything is compared, which detects a Redis that has lost something. */
const WAIT_MS = 5000;
const PAUSE_MS = 200;

/** Keeps a replica the same as Redis: by the feed, and by reading everything if the feed has a gap. */
export class Feed {
  readonly #options: FeedOptions;
  /** The last entry that was applied. Its nonce tells it from another with the same number, in a Redis that went back. */
  #position: { readonly id: string; readonly nonce: string } | undefined;
  #isLoaded = false;
  #catching: Promise<void> | undefined;
  #following: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Applies what happened until now. */
  catchUp(): Promise<void> {
    // One that is under way may have read before the caller's reason to ask; so one more follows on it.
    const next = (this.#catching ?? Promise.resolve()).then(() => this.#catchUpNow());
    const settled = next.catch(() => undefined);
    this.#catching = settled;
    void settled.then(() => {
      if (this.#catching === settled) this.#catching = undefined;
    });
    return next;
  }

  /** Follows until `stop`. */
  start(): void {
    this.#following ??= this.#follow();
  }

  /** Ends the connection that listens. */
  disconnect(): void {
    this.#isStopped = true;
    endConnection(this.#options.listening);
  }

  async stop(): Promise<void> {
    this.disconnect();
    await this.#following;
  }

  /** Reads one task up to its last event; undefined if it is not there. */
  async refresh(task: string): Promise<TaskState | undefined> {
    const { redis, keys, replica } = this.#options;
    const known = replica.get(task);
    // From the last event that is known, to see that it is still the same.
    const events = eventsOf(await redis.xrange(keys.log(task), `${known?.version ?? 1}-0`, "+"));
    if (known !== undefined && events[0]?.at !== known.updatedAt) {
      // Redis went back, and may have gone on in another way: what it has counts.
      replica.drop(task);
      return this.refresh(task);
    }
    replica.apply(task, events);
    return replica.get(task);
  }

  async #follow(): Promise<void> {
    const { listening, keys } = this.#options;
    while (!this.#isStopped) {
      // Expected: the connection is closed by `stop`, or the server is away.
      try {
        await this.catchUp();
        await listening.xread("BLOCK", WAIT_MS, "STREAMS", keys.feed, this.#position?.id ?? "0-0");
      } catch {
        if (!this.#isStopped) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  async #catchUpNow(): Promise<void> {
    const { redis, keys } = this.#options;
    if (!this.#isLoaded) return this.#reload();
    const from = this.#position?.id ?? "0-0";
    const entries = await redis.xrange(keys.feed, from, "+");
    const [first, ...rest] = entries;
    if (this.#position === undefined) return this.#applyAll(entries);
    if (first?.[0] !== from || field(first[1], "nonce") !== this.#position.nonce) return this.#reload();
    return this.#applyAll(rest);
  }

  async #applyAll(entries: readonly StreamEntry[]): Promise<void> {
    const { replica } = this.#options;
    for (const [id, fields] of entries) {
      const task = field(fields, "task");
      if (!this.#isKnown(task, fields)) {
        const events = feedEvents(fields);
        if (events === undefined || !replica.apply(task, events)) await this.refresh(task);
      }
      this.#position = { id, nonce: field(fields, "nonce") };
    }
  }

  /** Most entries are of writes of this process, which has applied them when they were answered: each as a whole. */
  #isKnown(task: string, fields: readonly string[]): boolean {
    const known = this.#options.replica.get(task)?.version ?? 0;
    return known > Number(field(fields, "version")) && field(fields, "bodies") !== "[]";
  }

  /** Compares every task. */
  async #reload(): Promise<void> {
    const { redis, keys, replica } = this.#options;
    // The position first: what happens meanwhile is seen again, and changes nothing then.
    const [last] = await redis.xrevrange(keys.feed, "+", "-", "COUNT", 1);
    const ids = await redis.zrange(keys.order, "0", "-1");
    const present = new Set(ids);
    for (const id of replica.ids) if (!present.has(id)) replica.drop(id);
    await Promise.all(ids.map((id) => this.refresh(id)));
    this.#position = last === undefined ? undefined : { id: last[0], nonce: field(last[1], "nonce") };
    this.#isLoaded = true;
  }
}
