import { EVENT_STREAM } from "@flint/protocol";
import { needs, RedisServer } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { openConnection } from "../store/redis/redis-connection.ts";
import { executing, NOW } from "../testing/task.ts";
import { EventStream } from "./event-stream.ts";
import { TurnEvents } from "./turn-events.ts";

needs("redis")("events wait while Redis is away, and are sent in order when it is back [S2-64]", async () => {
  const server = await RedisServer.start({ args: ["--appendfsync", "always"] });
  const redis = await openConnection(server.url);
  onTestFinished(() => redis.disconnect());
  const stream = new EventStream({ redis, onProblem: () => {} });
  const news = new TurnEvents(executing(), "executor", { turns: 0 }, NOW);
  stream.publish(news.heartbeat(30, NOW));
  await stream.flushed();
  await server.kill();
  for (const seconds of [60, 90, 120]) stream.publish(news.heartbeat(seconds, NOW));
  await server.start();
  await stream.flushed();
  const entries = await redis.xrange(EVENT_STREAM, "-", "+");
  const seen = entries.map(([, fields]) => JSON.parse(fields[1] ?? ""));
  expect(entries.every(([, [name]]) => name === "data")).toBe(true);
  const seconds = [...new Set(seen.map(({ elapsed_seconds }) => elapsed_seconds))];
  expect(seconds).toEqual([30, 60, 90, 120]);
});

needs("redis")("closing sends what waits, to the stream and the length that were chosen", async () => {
  const server = await RedisServer.start();
  const redis = await openConnection(server.url);
  onTestFinished(() => redis.disconnect());
  const problems: string[] = [];
  const onProblem = (problem: string) => void problems.push(problem);
  const stream = new EventStream({ redis, stream: "my:events", maxLength: 100, onProblem });
  const news = new TurnEvents(executing(), "executor", { turns: 0 }, NOW);
  for (let count = 0; count < 400; count += 1) stream.publish(news.heartbeat(count, NOW));
  await stream.close();
  const [[, [, last = ""]] = ["", []]] = await redis.xrevrange("my:events", "+", "-", "COUNT", 1);
  expect(JSON.parse(last).elapsed_seconds).toBe(399);
  // Redis removes whole blocks of 100.
  expect(await redis.xlen("my:events")).toBeLessThan(250);
  expect([await redis.exists(EVENT_STREAM), problems]).toEqual([0, []]);
});

needs("redis")("closing without Redis ends, and says what was not sent", async () => {
  const server = await RedisServer.start();
  const redis = await openConnection(server.url);
  onTestFinished(() => redis.disconnect());
  const problems: string[] = [];
  const stream = new EventStream({ redis, onProblem: (problem) => void problems.push(problem) });
  await server.kill();
  stream.publish(new TurnEvents(executing(), "executor", { turns: 0 }, NOW).heartbeat(1, NOW));
  await stream.close(50);
  expect(problems.at(-1)).toBe("Events of tasks that were not sent, because Redis did not answer: 1.");
});
