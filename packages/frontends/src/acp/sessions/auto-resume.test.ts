import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { acpBench } from "../testing/setup.ts";

const ON = { door: { autoResume: true } };

describe("auto-resume", () => {
  test("the first new session of a client in a folder goes on with the last one there, and shows it [S3-21]", async () => {
    const { connect, path } = await acpBench({}, ON);
    const first = await connect();
    const begun = await first.begin(path);
    await first.prompt(begun, "remember me");
    const second = await connect();
    expect(await second.begin(path)).toBe(begun);
    const shown = await second.until(() => second.of("user_message_chunk")[0]);
    expect(shown.content).toEqual({ type: "text", text: "remember me" });
    const other = await second.begin(path);
    expect(other).not.toBe(begun);
    await second.prompt(begun, "and me");
    expect(await (await connect()).begin(path)).toBe(begun);
    await second.prompt(other, "or me");
    expect(await (await connect()).begin(path)).toBe(other);
  });

  test("of two new sessions that a client begins in the same breath, only the first goes on", async () => {
    const { connect, path, engine } = await acpBench({}, ON);
    const first = await connect();
    const begun = await first.begin(path);
    await first.prompt(begun, "remember me");
    const second = await connect();
    const looking = new Gate();
    const call = engine.call.bind(engine);
    engine.call = async (caller, method, params, respond) => {
      if (method === "thread/read") await looking.opened;
      await call(caller, method, params, respond);
    };
    const last = second.begin(path);
    expect(await second.begin(path)).not.toBe(begun);
    looking.open();
    expect(await last).toBe(begun);
  });

  test("another kind of client, and another folder, have a last session of their own", async () => {
    const { connect, path } = await acpBench({}, ON);
    const zed = await connect({ name: "zed" });
    const begun = await zed.begin(path);
    await zed.prompt(begun, "remember me");
    const emacs = await connect({ name: "emacs" });
    const own = await emacs.begin(path);
    expect(own).not.toBe(begun);
    await emacs.prompt(own, "and me");
    const again = await connect({ name: "zed" });
    expect(await again.begin(`${path}/..`)).not.toBe(begun);
    expect(await again.begin(path)).toBe(begun);
    expect(await (await connect({ name: "emacs" })).begin(path)).toBe(own);
  });

  test("a session that was deleted or put away is not taken up again", async () => {
    const { connect, path, engine } = await acpBench({}, ON);
    const client = await connect();
    const deleted = await client.begin(path);
    await client.prompt(deleted, "hello");
    await client.request("session/delete", { sessionId: deleted });
    const later = await connect();
    const archived = await later.begin(path);
    expect(archived).not.toBe(deleted);
    await later.prompt(archived, "hello");
    const plain = engine.connect({ send: () => undefined, isFull: () => false });
    await plain.call("thread/archive", { threadId: archived }, () => undefined);
    expect(await (await connect()).begin(path)).not.toBe(archived);
  });

  test("a session that cannot be taken up is replaced by a new one, which says so", async () => {
    const { connect, path, engine } = await acpBench({}, ON);
    const client = await connect();
    const begun = await client.begin(path);
    await client.prompt(begun, "hello");
    const elsewhere = await connect();
    const call = engine.call.bind(engine);
    engine.call = async (caller, method, params, respond) => {
      if (method === "thread/attach") throw new Error("another server has it");
      await call(caller, method, params, respond);
    };
    expect(await elsewhere.begin(path)).not.toBe(begun);
    await elsewhere.until(() => (elsewhere.said === "" ? undefined : elsewhere.said));
    expect(elsewhere.said).toMatch(/^This is a new session, for the last one here cannot be taken up: .+/);
  });

  test("off, nothing is taken up; turned on in a session, that one is", async () => {
    const { connect, path } = await acpBench({});
    const client = await connect();
    const begun = await client.begin(path);
    await client.prompt(begun, "hello");
    const second = await connect();
    const other = await second.begin(path);
    expect(other).not.toBe(begun);
    const set = { sessionId: begun, configId: "auto_resume" };
    await client.request("session/set_config_option", { ...set, value: "true" });
    expect(await (await connect()).begin(path)).toBe(begun);
    await client.request("session/set_config_option", { ...set, value: "false" });
    expect([begun, other]).not.toContain(await (await connect()).begin(path));
  });
});
