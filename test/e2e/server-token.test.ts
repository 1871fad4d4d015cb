import { connect } from "@flint/sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { ServerFixture } from "./listening-server.ts";

describe("flint server token", () => {
  test("makes a token with which a program adds tasks to a server that listens, and does nothing else", async () => {
    const fixture = await ServerFixture.make();
    const { addresses } = await fixture.listening(["--listen", "ws://127.0.0.1:0"]);
    const made = await fixture.run(["server", "token", "create", "--name", "ci", "--rights", "tasks:add"]);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^flint_[\w-]{43}\n$/), err: "" });
    const client = await connect({ url: `${addresses[0]}/flint`, token: made.out.trim() });
    onTestFinished(() => client.close());
    // Far off, so that no agent starts.
    const notBeforeMs = Date.now() + 3_600_000;
    const task = { prompt: "Port it", cwd: fixture.workspace, notBeforeMs };
    const { data } = await client.call("task/add", { tasks: [task] });
    const taskId = data[0]?.id ?? "";
    expect((await client.call("task/list", {})).data).toMatchObject([{ id: taskId, phase: "waiting" }]);
    await expect(client.call("task/cancel", { taskId })).rejects.toThrow("task/cancel needs tasks:admin");
    await expect(client.call("thread/start", {})).rejects.toThrow("needs the server's own token");
    const listed = await fixture.run(["server", "token", "list", "--json"]);
    expect(JSON.parse(listed.out)).toMatchObject([{ name: "ci", rights: ["tasks:add"] }]);
    expect(await fixture.run(["server", "token", "revoke", "ci"])).toMatchObject({ code: 0 });
    await expect(client.call("task/list", {})).rejects.toThrow("revoked");
    expect((await fixture.run(["server", "token", "list"])).out).toBe("There are no limited tokens.\n");
  }, 90_000);

  test("says what is missing or wrong", async () => {
    const fixture = await ServerFixture.make();
    const token = (...args: string[]) => fixture.run(["server", "token", ...args]);
    const [nameless, wrong, none, other] = await Promise.all([
      token("create", "--rights", "tasks:add"),
      token("create", "--name", "ci", "--rights", "tasks:add,everything"),
      token("revoke", "ci"),
      token("show"),
    ]);
    expect(nameless).toMatchObject({ code: 2, err: expect.stringContaining("--name ci") });
    expect(wrong.err).toContain('"everything" is not a right. Give --rights one or more of tasks:add');
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("There is no token named ci") });
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining("create, list, revoke") });
  }, 90_000);
});
