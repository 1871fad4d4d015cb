import { needs, RedisServer } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { openConnection } from "../store/redis/redis-connection.ts";
import { executing, NOW } from "../testing/task.ts";
import { NEWS_KEY, NewsStream } from "./news-stream.ts";
import { TurnNews } from "./turn-news.ts";

needs("redis")("events wait while Redis is away, and are sent in order when it is back [S2-64]", async () => {
  const server = await RedisServer.start({ args: ["--appendfsync", "always"] });
  const redis = await openConnection(server.url);
  onTestFinished(() => redis.disconnect());
  const stream = new NewsStream({ redis, onProblem: () => {} });
  const news = new TurnNews(executing(), "executor");
  stream.publish(news.heartbeat(30, NOW));
  await stream.flushed();
  await server.kill();
  for (const seconds of [60, 90, 120]) stream.publish(news.heartbeat(seconds, NOW));
  await server.start();
  await stream.flushed();
  const entries = await redis.xrange(NEWS_KEY, "-", "+");
  const seen = entries.map(([, fields]) => JSON.parse(fields[1] ?? ""));
  expect(entries.every(([, [name]]) => name === "data")).toBe(true);
  const seconds = [...new Set(seen.map(({ elapsed_seconds }) => elapsed_seconds))];
  expect(seconds).toEqual([30, 60, 90, 120]);
});
