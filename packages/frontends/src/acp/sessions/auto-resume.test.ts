import type { Engine } from "@flint/core";
import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { setUpAcp } from "../testing/setup.ts";

const ON = { acp: { autoResume: true } };

/** Runs `before` ahead of every call of the clients that connect from now on. */
function beforeCalls(engine: Engine, before: (method: string) => Promise<void>): void {
  const connect = engine.connect.bind(engine);
  engine.connect = (subscriber, cwd) => {
    const session = connect(subscriber, cwd);
    const call = session.call.bind(session);
    session.call = async (method, params, respond) => {
      await before(method);
      await call(method, params, respond);
    };
    return session;
  };
}

describe("auto-resume", () => {
  test("continues the last session in a folder and shows its history [S3-21]", async () => {
    const { connect, path } = await setUpAcp({}, ON);
    const first = await connect();
    const created = await first.newSession(path);
    await first.prompt(created, "remember me");
    const second = await connect();
    expect(await second.newSession(path)).toBe(created);
    const shown = await second.until(() => second.of("user_message_chunk")[0]);
    expect(shown.content).toEqual({ type: "text", text: "remember me" });
    const other = await second.newSession(path);
    expect(other).not.toBe(created);
    await second.prompt(created, "and me");
    expect(await (await connect()).newSession(path)).toBe(created);
    await second.prompt(other, "or me");
    expect(await (await connect()).newSession(path)).toBe(other);
  });

  test("continues only the first of two concurrent new sessions", async () => {
    const { connect, path, engine } = await setUpAcp({}, ON);
    const first = await connect();
    const created = await first.newSession(path);
    await first.prompt(created, "remember me");
    const looking = new Gate();
    beforeCalls(engine, async (method) => {
      if (method === "thread/read") await looking.opened;
    });
    const second = await connect();
    const last = second.newSession(path);
    expect(await second.newSession(path)).not.toBe(created);
    looking.open();
    expect(await last).toBe(created);
  });

  test("keeps a last session for each kind of client and folder", async () => {
    const { connect, path } = await setUpAcp({}, ON);
    const zed = await connect({ name: "zed" });
    const created = await zed.newSession(path);
    await zed.prompt(created, "remember me");
    const emacs = await connect({ name: "emacs" });
    const own = await emacs.newSession(path);
    expect(own).not.toBe(created);
    await emacs.prompt(own, "and me");
    const again = await connect({ name: "zed" });
    expect(await again.newSession(`${path}/..`)).not.toBe(created);
    expect(await again.newSession(path)).toBe(created);
    expect(await (await connect({ name: "emacs" })).newSession(path)).toBe(own);
  });

  test("does not continue a deleted or archived session", async () => {
    const { connect, path, engine } = await setUpAcp({}, ON);
    const client = await connect();
    const deleted = await client.newSession(path);
    await client.prompt(deleted, "hello");
    await client.request("session/delete", { sessionId: deleted });
    const later = await connect();
    const archived = await later.newSession(path);
    expect(archived).not.toBe(deleted);
    await later.prompt(archived, "hello");
    const plain = engine.connect({ send: () => undefined, isFull: () => false });
    await plain.call("thread/archive", { threadId: archived }, () => undefined);
    expect(await (await connect()).newSession(path)).not.toBe(archived);
  });

  test("starts a new session with a notice if the last one cannot be resumed", async () => {
    const { connect, path, engine } = await setUpAcp({}, ON);
    const client = await connect();
    const created = await client.newSession(path);
    await client.prompt(created, "hello");
    beforeCalls(engine, async (method) => {
      if (method === "thread/attach") throw new Error("another server has it");
    });
    const elsewhere = await connect();
    expect(await elsewhere.newSession(path)).not.toBe(created);
    await elsewhere.until(() => (elsewhere.agentText === "" ? undefined : elsewhere.agentText));
    expect(elsewhere.agentText).toMatch(/^This is a new session, because the last one cannot be resumed: .+/);
  });

  test("does nothing while it is off, and continues the session in which it is turned on", async () => {
    const { connect, path } = await setUpAcp({});
    const client = await connect();
    const created = await client.newSession(path);
    await client.prompt(created, "hello");
    const second = await connect();
    const other = await second.newSession(path);
    expect(other).not.toBe(created);
    const set = { sessionId: created, configId: "auto_resume" };
    await client.request("session/set_config_option", { ...set, value: "true" });
    expect(await (await connect()).newSession(path)).toBe(created);
    await client.request("session/set_config_option", { ...set, value: "false" });
    expect([created, other]).not.toContain(await (await connect()).newSession(path));
  });
});
