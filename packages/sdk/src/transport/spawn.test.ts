import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { FlintClient } from "../client/flint-client.ts";
import { connect } from "../connect.ts";
import { FlintConnectionError, type Warning } from "../errors.ts";
import type { SpawnOptions } from "./spawn.ts";

const SERVER = fileURLToPath(new URL("../fixtures/fake-server.mjs", import.meta.url));

const clients: FlintClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function start(mode: string, spawn: SpawnOptions = {}, warnings: Warning[] = []): Promise<FlintClient> {
  const client = await connect({
    spawn: { command: process.execPath, args: [SERVER, mode], ...spawn },
    onWarning: (warning) => warnings.push(warning),
  });
  clients.push(client);
  return client;
}

async function failureOf(promise: Promise<unknown>): Promise<FlintConnectionError> {
  const thrown = await promise.then(
    () => "it succeeded",
    (error: unknown) => error,
  );
  if (thrown instanceof FlintConnectionError) return thrown;
  throw new Error(`expected a FlintConnectionError and got ${String(thrown)}`, { cause: thrown });
}

describe("a server that is started", () => {
  test("answers over stdin and stdout [S4-43]", async () => {
    const client = await start("answer");
    const thread = await client.startThread();
    const stream = thread.stream("schöne Grüße");
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual([
      "turn/started",
      "item/started",
      "item/completed",
      "item/started",
      "item/agentMessage/delta",
      "item/completed",
      "turn/completed",
    ]);
    expect(await stream.result).toMatchObject({ status: "completed", text: "You said: schöne Grüße" });
    const [turn] = thread.state.turns;
    expect(turn?.items).toMatchObject([{ type: "commandExecution", exitCode: 0 }, { type: "agentMessage" }]);
  });

  test("runs in the folder and the environment it was given", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "flint-sdk-")));
    const script = `exec "$NODE" "$SERVER" answer "$PROVIDER"`;
    const env = { NODE: process.execPath, SERVER, PROVIDER: "from the environment" };
    const client = await start("", { command: "/bin/sh", args: ["-c", script], cwd: folder, env });
    expect(client.server.agentInfo.provider).toBe("from the environment");
    expect((await client.startThread()).state.thread.cwd).toBe(folder);
    await client.close();
    await rm(folder, { recursive: true });
  });

  test("that does not exist is an error that says how to fix it [S4-30, S4-39]", async () => {
    const error = await failureOf(connect({ spawn: { command: "no-such-flint" } }));
    expect(error.kind).toBe("spawnFailed");
    expect(error.message).toContain(
      'Could not start "no-such-flint serve --stdio": spawn no-such-flint ENOENT',
    );
    expect(error.message).toContain("spawn.command");
  });

  test("that cannot be started with these arguments is the same kind of error [S4-39]", async () => {
    const error = await failureOf(connect({ spawn: { command: "node", args: ["a\u0000b"] } }));
    expect(error.kind).toBe("spawnFailed");
  });

  test("that dies at once is an error with its exit code and its last lines [S4-39]", async () => {
    const error = await failureOf(start("die-at-once"));
    expect(error.kind).toBe("exited");
    expect(error.message).toContain("exited with code 3");
    expect(error.stderr.split("\n")).toHaveLength(20);
    expect(error.stderr.split("\n").at(-1)).toBe("no config found");
    expect(error.message).toContain("no config found");
  });

  test.each([
    ["die-in-turn", "exited with code 9", "the agent crashed"],
    ["killed-in-turn", "was ended by SIGKILL", ""],
  ])("that ends in the middle of a turn rejects everything: %s [S4-39]", async (mode, how, stderr) => {
    const client = await start(mode);
    const thread = await client.startThread();
    const events = client.events();
    const stream = thread.stream("go");
    const error = await failureOf(stream.result);
    expect(error).toMatchObject({ kind: "exited", stderr });
    expect(error.message).toContain(how);
    await failureOf(readToEnd(stream));
    await failureOf(readToEnd(events));
    await failureOf(client.models());
    expect(await client.closed).toHaveProperty("kind", "exited");
  });

  test("that exits is noticed although a child of it still holds its pipes open", async () => {
    const script = `exec 3<&0; sleep 60 <&3 & echo "child $!" >&2; exec "$0" "$1" killed-in-turn`;
    let stderr = "";
    const onStderr = (text: string): void => {
      stderr += text;
    };
    const client = await start("", {
      command: "/bin/sh",
      args: ["-c", script, process.execPath, SERVER],
      onStderr,
    });
    try {
      const thread = await client.startThread();
      const error = await failureOf(thread.run("go"));
      expect(error.message).toContain("SIGKILL");
    } finally {
      const [, child] = /child (\d+)/.exec(stderr) ?? [];
      process.kill(Number(child), "SIGKILL");
    }
  });

  test("that prints garbage is still read [S4-41]", async () => {
    const warnings: Warning[] = [];
    const client = await start("garbage", {}, warnings);
    const thread = await client.startThread();
    expect((await thread.run("hello")).text).toBe("You said: hello");
    expect(warnings.length).toBeGreaterThanOrEqual(4);
    expect(new Set(warnings.map(({ kind }) => kind))).toEqual(new Set(["malformedLine"]));
  });

  test("has ended once the client is closed, by force if it does not exit [S4-39]", async () => {
    for (const mode of ["answer", "slow-to-leave", "stubborn"]) {
      const script = `echo "pid $$" >&2; exec "$0" "$1" "${mode}"`;
      let stderr = "";
      const onStderr = (text: string): void => {
        stderr += text;
      };
      const args = ["-c", script, process.execPath, SERVER];
      const client = await start("", { command: "/bin/sh", args, stopMs: 100, onStderr });
      await client.close();
      const pid = Number(/pid (\d+)/.exec(stderr)?.[1]);
      expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    }
  });

  test("is not left behind when connecting is aborted", async () => {
    const controller = new AbortController();
    let stderr = "";
    const onStderr = (text: string): void => {
      stderr += text;
      if (stderr.endsWith("\n")) controller.abort(new Error("it never says hello"));
    };
    const spawn = {
      command: "/bin/sh",
      args: ["-c", 'echo "pid $$" >&2; exec sleep 60'],
      stopMs: 20,
      onStderr,
    };
    await expect(connect({ spawn, signal: controller.signal })).rejects.toThrow("it never says hello");
    const pid = Number(/pid (\d+)/.exec(stderr)?.[1]);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

async function readToEnd(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
