import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { addToFleet, setUpFleet, untilInFleet, writesFile } from "../testing/fleet-fixture.ts";

needs(
  "redis",
  "bwrap",
  "git",
)("servers and workers of a fleet close while Redis is away", async () => {
  const { client, cwd, redis, startWorker, closeAll } = await setUpFleet((_name, _text, folder) =>
    writesFile(folder),
  );
  const id = await addToFleet(client, cwd);
  await startWorker("w1");
  await untilInFleet(client, id, "approving", "failed", "asking");
  await redis.kill();
  const from = performance.now();
  await closeAll();
  expect(performance.now() - from).toBeLessThan(30_000);
});
