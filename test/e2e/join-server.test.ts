import { existsSync } from "node:fs";
import { isAlive } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ServerFixture, serverInfo } from "./listening-server.ts";
import { asMessage, initialize, startThread } from "./server.ts";

const TIMEOUT_MS = 120_000;

/** A running server with one thread that a client has open. */
async function openThread() {
  const fixture = await ServerFixture.make();
  const { wire } = await fixture.listening(["--listen", "local"]);
  const client = fixture.wire(["connect"]);
  await initialize(client);
  return { fixture, wire, client, threadId: await startThread(client) };
}

describe("while a server is running for the state folder", { timeout: TIMEOUT_MS }, () => {
  test("exec starts its thread there, with the permissions of the command line", async () => {
    const { fixture, client } = await openThread();
    const ran = await fixture.run(["exec", "--json", "--permissions", "plan", "count to 3"]);
    expect(ran).toMatchObject({ code: 0 });
    const [first = "{}"] = ran.out.split("\n");
    const { thread, settings } = asMessage(JSON.parse(first));
    expect(asMessage(settings).sandboxPolicy).toEqual({ type: "readOnly" });
    const { data } = asMessage(await client.request("thread/list", {}));
    const listed = Array.isArray(data)
      ? data.map(asMessage).find(({ id }) => id === asMessage(thread).id)
      : {};
    // Only the server that has a thread open lists it as loaded.
    expect(asMessage(listed?.status).type).toBe("idle");
  });

  test("exec continues a thread that another client has open, and that client receives the turn", async () => {
    const { fixture, client, threadId } = await openThread();
    const received = client.waitForMethod("turn/completed");
    const ran = await fixture.run(["exec", "-q", "--resume", threadId, "count to 3"]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(asMessage((await received).params).threadId).toBe(threadId);
  });

  test("exec with an option for the server itself names the way out if the thread is open there", async () => {
    const { fixture, threadId } = await openThread();
    const ran = await fixture.run(["exec", "--durability", "relaxed", "--resume", threadId, "count to 3"]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("--durability cannot be applied to it");
    expect(ran.err).toContain("flint server stop");
    const fresh = await fixture.run(["exec", "-q", "--durability", "relaxed", "count to 3"]);
    expect(fresh).toMatchObject({ code: 0, err: "" });
  });

  test("what an agent left running there is listed and stopped by its thread", async () => {
    const { fixture, threadId } = await openThread();
    const prompt = "run `sleep 4711` in the background";
    const ran = await fixture.run(["exec", "-q", "--approval", "never", "--resume", threadId, prompt]);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain(`Running in the background: sleep 4711 (flint threads background ${threadId})`);
    const background = (...args: string[]) => fixture.run(["threads", "background", threadId, ...args]);
    expect(await background()).toEqual({ code: 0, out: "1  sleep 4711\n", err: "" });
    const unknown = await background("--stop", "7");
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('No background command "7"') });
    expect(await background("--stop", "all")).toEqual({ code: 0, out: "Stopped 1\n", err: "" });
    expect((await background()).out).toBe("No background commands are running.\n");
  });

  test("a thread is replayed as its session looked, also one turn of it, and after it was undone", async () => {
    const { fixture, threadId } = await openThread();
    for (const prompt of ["count to 2", "count to 3"])
      await fixture.run(["exec", "-q", "--resume", threadId, prompt]);
    const second = await fixture.run(["replay", threadId, "--turn", "2"]);
    expect(second).toMatchObject({ code: 0, err: "" });
    expect(second.out).toMatch(/^› count to 3 {2}from flint exec\n\n/);
    await fixture.run(["threads", "revert", threadId, "--before", "#2"]);
    const { out } = await fixture.run(["threads", "replay", threadId]);
    expect([out.includes("› count to 2"), out.includes("› count to 3")]).toEqual([true, true]);
    expect(out).not.toContain("\u001b");
    const unknown = await fixture.run(["replay", "no-such-thread"]);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('No thread "no-such-thread"') });
  });

  test("an editor that cannot use it finds the reason in its session", async () => {
    const { fixture } = await openThread();
    const editor = fixture.wire(["acp"], fixture.workspace, { OLLAMA_HOST: "127.0.0.1:9" });
    await editor.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await editor.request("session/new", { cwd: fixture.workspace, mcpServers: [] });
    const why = "it was started with different environment variables";
    const notified = await editor.waitFor(({ params }) => JSON.stringify(params)?.includes(why) === true);
    expect(notified.method).toBe("session/update");
    expect(JSON.stringify(notified.params)).toContain("flint server stop");
  });

  test("threads are named, reverted and shown there", async () => {
    const { fixture, threadId } = await openThread();
    await fixture.run(["exec", "-q", "--resume", threadId, "count to 3"]);
    expect(await fixture.run(["threads", "name", threadId, "counting"])).toMatchObject({ code: 0, err: "" });
    const shown = (await fixture.run(["threads", "show", "counting"])).out;
    expect(shown).toMatch(/\n\*Turn #1\*\n\n## count to 3\n/);
    const none = await fixture.run(["threads", "revert", threadId, "--before", "#2"]);
    expect(none.err).toContain("The thread has no turn #2: it has 1 turn.");
    expect(await fixture.run(["threads", "fork", threadId, "--last-turn", "1"])).toMatchObject({ code: 0 });
    const reverted = await fixture.run(["threads", "revert", threadId, "--before", "#1"]);
    expect(reverted).toMatchObject({ code: 0, err: "" });
    expect(reverted.out).toContain("1 turn undone");
  });
});

describe("flint server", { timeout: TIMEOUT_MS }, () => {
  test("status describes the running server, and stop ends it in order", async () => {
    const { fixture, wire } = await openThread();
    const { pid } = await serverInfo(fixture);
    const json = JSON.parse((await fixture.run(["server", "status", "--json"])).out);
    expect(json).toMatchObject({ running: true, pid, clients: 1, threads: { open: 1, running: 0 } });
    const { code, out } = await fixture.run(["server", "status"]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`process +${pid} `));
    expect(out).toContain("clients  1 joined");
    expect(out).toContain("1 open, 0 turns running");
    expect(await fixture.run(["server", "stop"])).toMatchObject({
      code: 0,
      out: `Stopped the server for ${fixture.home} (process ${pid}).\n`,
    });
    expect(await wire.exited).toMatchObject({ code: 0 });
    expect(existsSync(`${fixture.home}/run/server.json`)).toBe(false);
  });

  test("says so if no server is running, and if there is no log", async () => {
    const fixture = await ServerFixture.make();
    const status = await fixture.run(["server", "status"]);
    expect(status.code).toBe(1);
    expect(status.err).toContain(`No server is running for ${fixture.home}.`);
    expect(await fixture.run(["server", "stop"])).toMatchObject({ code: 0 });
    expect((await fixture.run(["server", "logs"])).err).toContain("There is no log at");
  });

  test("logs prints what a background server has written", async () => {
    const fixture = await ServerFixture.make();
    await initialize(fixture.wire(["connect", "--start"]));
    const { pid } = await serverInfo(fixture);
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, "SIGKILL");
    });
    const { code, out } = await fixture.run(["server", "logs"]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`serving ${fixture.home}`) });
    await fixture.run(["server", "stop"]);
    expect(isAlive(pid)).toBe(false);
  });
});
