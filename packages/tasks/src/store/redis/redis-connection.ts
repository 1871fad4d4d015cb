import type { Redis, RedisOptions } from "ioredis";

/** The reason a Redis cannot be used, as a sentence with the way out. Never holds a password. */
export class RedisProblem extends Error {
  override readonly name = "RedisProblem";
}

/** Settings of a connection; the form of answers is not among them, because the code here relies on one. */
export type ConnectionSettings = Omit<RedisOptions, "replyMapping">;

const CONNECT_MS = 5000;
const LONGEST_PAUSE_MS = 1000;

/** Settings of a connection that outlives restarts of the server: commands wait for it, and are sent again. */
const LASTING: ConnectionSettings = {
  maxRetriesPerRequest: null,
  connectTimeout: CONNECT_MS,
  retryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_PAUSE_MS),
};

/** Opens a connection that reconnects automatically. Commands wait while the server is unreachable. */
export async function openConnection(url: string, options: ConnectionSettings = {}): Promise<Redis> {
  const redis = await client(url, { ...LASTING, ...options });
  // Reported by the commands that fail; without a listener it would be printed for each attempt.
  redis.on("error", () => {});
  return redis;
}

/** Ends a connection, and with an error every command that waits for an answer. */
export function endConnection(redis: Redis): void {
  redis.options.retryStrategy = () => null;
  // Between two attempts ioredis (6.0) would leave what waits unanswered; the next attempt is the last one instead.
  if (redis.status !== "reconnecting") redis.disconnect();
}

/** Connects once, without trying again. Rejects with what went wrong. */
export async function connectOnce(url: string): Promise<Redis> {
  const redis = await client(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let problem: unknown;
  redis.on("error", (thrown) => {
    problem ??= thrown;
  });
  try {
    await redis.connect();
    return redis;
  } catch (thrown) {
    redis.disconnect();
    // The event has the cause; what rejects only says that the connection is closed.
    throw problem ?? thrown;
  }
}

/** The address without user and password. */
export function publicAddress(url: string): string {
  const { protocol, host, pathname } = addressOf(url);
  return protocol === "unix:" ? `unix:${pathname}` : `${protocol}//${host}`;
}

async function client(url: string, options: ConnectionSettings): Promise<Redis> {
  const { protocol, pathname } = addressOf(url);
  const { Redis: Client } = await import("ioredis");
  return protocol === "unix:"
    ? new Client({ ...options, path: decodeURIComponent(pathname) })
    : new Client(url, options);
}

/** The parts of an address. Throws a RedisProblem if it is none. */
function addressOf(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["redis:", "rediss:", "unix:"].includes(parsed.protocol))
    throw new RedisProblem(
      "The address of Redis has to look like redis://host:6379, rediss://user:password@host or unix:/path/to.sock.",
    );
  return parsed;
}
