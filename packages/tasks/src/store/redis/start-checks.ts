import { errorMessage } from "@flint/protocol";
import type { Redis } from "ioredis";
import type { TaskKeys } from "./keys.ts";
import { connectOnce, publicAddress, RedisProblem } from "./redis-connection.ts";

/** The format of what is stored. Raised by every change that an older version could not read. */
const FORMAT = "1";

/** Rejects with a RedisProblem unless tasks can be kept there: reachable, writable, never evicting, of our format. */
export async function checkRedis(url: string, keys: TaskKeys, version: string): Promise<void> {
  const where = publicAddress(url);
  const redis = await connectOnce(url).catch((thrown: unknown) => {
    throw connectProblem(where, thrown);
  });
  try {
    await checkServer(redis, where, keys);
    await checkFormat(redis, where, keys, version);
  } catch (thrown) {
    throw thrown instanceof RedisProblem ? thrown : connectProblem(where, thrown);
  } finally {
    redis.disconnect();
  }
}

async function checkServer(redis: Redis, where: string, keys: TaskKeys): Promise<void> {
  const memory = await redis.info("memory");
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? "noeviction";
  if (policy !== "noeviction")
    throw new RedisProblem(
      `Redis at ${where} may evict tasks: its maxmemory-policy is ${policy}. Set it to noeviction, or use another Redis.`,
    );
  const replication = await redis.info("replication");
  if (/^role:slave/m.test(replication))
    throw new RedisProblem(`Redis at ${where} is a read-only replica. Give the address of its primary.`);
  await redis.set(keys.probe, "1", "PX", 1000);
}

async function checkFormat(redis: Redis, where: string, keys: TaskKeys, version: string): Promise<void> {
  const mine = `${FORMAT} ${version}`;
  await redis.set(keys.format, mine, "NX");
  const stored = (await redis.get(keys.format)) ?? mine;
  const [format, writer = "unknown"] = stored.split(" ");
  if (format === FORMAT) return;
  throw new RedisProblem(
    `The tasks in Redis at ${where} have format ${format}, of Flint ${writer}; this is Flint ${version} with format ${FORMAT}. Use one version everywhere, or another namespace.`,
  );
}

/** Describes a failed command to the user. */
function connectProblem(where: string, thrown: unknown): RedisProblem {
  const cause = { cause: thrown };
  const message = errorMessage(thrown);
  const code = /^[A-Z]+/.exec(message)?.[0] ?? "";
  if (["WRONGPASS", "NOAUTH"].includes(code) || message.includes("AUTH"))
    return new RedisProblem(`Redis at ${where} rejects the user or password.`, cause);
  if (code === "READONLY")
    return new RedisProblem(`Redis at ${where} is read-only. Give the address of its primary.`, cause);
  if (code === "NOPERM")
    return new RedisProblem(`The user of Redis at ${where} may not do what tasks need: ${message}`, cause);
  if (["MISCONF", "OOM", "NOREPLICAS"].includes(code))
    return new RedisProblem(`Redis at ${where} accepts no writes: ${message}`, cause);
  return new RedisProblem(`Redis at ${where} cannot be reached: ${message}`, cause);
}
