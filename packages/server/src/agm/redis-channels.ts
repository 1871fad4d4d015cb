import { openConnection, TaskKeys } from "@flint/tasks/fleet";
import type { FleetOptions } from "../fleet/fleet-options.ts";
import type { Channels } from "./channel-file.ts";
import { type ChannelLine, type MessageRow, readChannelLine, type StoredSession } from "./rows.ts";

/** The dependencies of channels in Redis. */
export interface RedisChannelsOptions extends Pick<FleetOptions, "redis" | "namespace"> {
  onDamage(problem: string): void;
}

/** About how many messages of a session are kept. */
const MAX_MESSAGES = "10000";

/**
 * The sessions of a fleet in a hash, and the messages of each in a stream, so that all machines have the same. Only what is
 * well formed is read, because others may write there.
 */
export class RedisChannels implements Channels {
  readonly #redis: Awaited<ReturnType<typeof openConnection>>;
  readonly #keys: TaskKeys;
  readonly #options: RedisChannelsOptions;

  private constructor(redis: Awaited<ReturnType<typeof openConnection>>, options: RedisChannelsOptions) {
    this.#redis = redis;
    this.#keys = new TaskKeys(options.namespace);
    this.#options = options;
  }

  /** Connects. What is asked for while Redis cannot be reached waits until it is back. */
  static async open(options: RedisChannelsOptions): Promise<RedisChannels> {
    return new RedisChannels(await openConnection(options.redis), options);
  }

  async sessions(): Promise<readonly StoredSession[]> {
    const lines = await this.#redis.hvals(this.#keys.sessions);
    const found = lines.flatMap((line) => this.#sessionIn(line) ?? []);
    return found.toSorted(
      (one, other) => compare(one.created_at, other.created_at) || compare(one.id, other.id),
    );
  }

  async session(id: string): Promise<StoredSession | undefined> {
    const line = await this.#redis.hget(this.#keys.sessions, id);
    const found = line === null ? undefined : this.#sessionIn(line);
    return found?.id === id ? found : undefined;
  }

  async messages(sessionId: string): Promise<readonly MessageRow[]> {
    const entries = await this.#redis.xrange(this.#keys.messages(sessionId), "-", "+");
    const found = new Map<string, MessageRow>();
    for (const [, [, line = ""]] of entries) {
      const message = this.#messageIn(line);
      // One whose answer was lost may have been sent twice.
      if (message?.session_id === sessionId && !found.has(message.id)) found.set(message.id, message);
    }
    return [...found.values()];
  }

  async append(line: ChannelLine): Promise<void> {
    const text = JSON.stringify(line);
    if ("session" in line) await this.#redis.hsetnx(this.#keys.sessions, line.session.id, text);
    else {
      const key = this.#keys.messages(line.message.session_id);
      await this.#redis.xadd(key, "MAXLEN", "~", MAX_MESSAGES, "*", "data", text);
    }
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  #sessionIn(text: string): StoredSession | undefined {
    const line = this.#read(text);
    return line !== undefined && "session" in line ? line.session : undefined;
  }

  #messageIn(text: string): MessageRow | undefined {
    const line = this.#read(text);
    return line !== undefined && "message" in line ? line.message : undefined;
  }

  #read(text: string): ChannelLine | undefined {
    const line = readChannelLine(text);
    if (line === undefined) this.#options.onDamage("An entry of the sessions in Redis cannot be read.");
    return line;
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
