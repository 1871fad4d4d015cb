import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { agentFolder, leavesNoProcess, needs, RedisServer } from "@flint/testkit";
import { expect, onTestFinished, vi } from "vitest";
import { commandFixture } from "./flint.ts";
import { FLINT } from "./server.ts";

const TEST_MS = 120_000;

needs("redis", "bwrap")(
  "flint workers lists the workers of a fleet, and drains one of them, which exits with 0",
  async () => {
    leavesNoProcess(10_000);
    const redis = await RedisServer.start();
    const { flint, cwd, home, environment: env } = await commandFixture(agentFolder());
    onTestFinished(async () => void (await flint(["server", "stop"])));
    const config = `${home}/.config/flint`;
    await mkdir(config, { recursive: true });
    await writeFile(`${config}/config.toml`, `[tasks]\nredis = ${JSON.stringify(redis.url)}\n`);
    expect((await flint(["workers"])).stdout).toBe("No workers. Start one with flint worker.\n");
    const args = [FLINT, "worker", "--name", "build-2", "--label", "gpu", "--concurrency", "3"];
    const worker = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
    onTestFinished(() => void worker.kill());
    const exited = once(worker, "exit");
    let said = "";
    worker.stderr.on("data", (bytes) => (said += bytes));
    await vi.waitUntil(() => said.includes("worker build-2 takes tasks of default"), { timeout: 30_000 });
    expect((await flint(["workers"])).stdout).toMatch(/build-2 +idle +0 of 3 +default +gpu/);
    const unknown = await flint(["workers", "drain", "build-3"]);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining("There is no worker named build-3."),
    ]);
    expect((await flint(["workers", "drain", "build-2"])).stdout).toContain("takes no more tasks");
    expect(await exited).toEqual([0, null]);
    expect(said).toContain("draining; waiting for running tasks");
    expect((await flint(["workers", "ls", "--json"])).stdout.trim()).toBe("[]");
  },
  TEST_MS,
);
