import { Gate, type Script, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const KEY = "quite a long secret of one server";

const server = (name: string, key = "short") => ({
  type: "stdio" as const,
  name,
  command: `/bin/${name}`,
  args: [],
  env: { KEY: key },
});

const says = (text: string): Script => [{ text }];

describe("MCP servers that a client provides", () => {
  test("reach the agent of that thread only, and never replace the user's own [S3-4]", async () => {
    const own = server("own");
    const { connect, driver } = bound(testEngine({ scripts: [says("a"), says("b")], mcpServers: [own] }));
    const client = connect();
    const mcpServers = [{ ...own, command: "/bin/other" }, server("mine")];
    await client.runTurn(await client.startThread({ mcpServers }), "hello");
    await client.runTurn(await client.startThread(), "hello");
    expect(driver.sessions.map((session) => session.mcpServers)).toEqual([[own, server("mine")], [own]]);
  });

  test("reach an idle agent when they change, and a working one when it next starts", async () => {
    const wait = new Gate();
    const { connect, driver } = bound(testEngine({ scripts: [says("a"), says("b"), says("c"), [{ wait }]] }));
    const client = connect();
    const threadId = await client.startThread();
    await client.runTurn(threadId, "one");
    await client.call("thread/attach", { threadId, mcpServers: [] });
    await client.runTurn(threadId, "two");
    expect(driver.sessions).toHaveLength(1);
    await client.call("thread/attach", { threadId, mcpServers: [server("new")] });
    await client.runTurn(threadId, "three");
    expect(driver.sessions.map(({ mcpServers }) => mcpServers)).toEqual([[], [server("new")]]);
    await client.startTurn(threadId, "four");
    await wait.reached;
    await client.call("thread/attach", { threadId, mcpServers: [server("late")] });
    expect(driver.sessions[1]?.closes).toBe(0);
    wait.open();
  });

  test("have their keys redacted everywhere", async () => {
    const { connect } = bound(testEngine({ scripts: [says(`it is ${KEY}`)] }));
    const client = connect();
    const threadId = await client.startThread({ mcpServers: [server("mine", KEY)] });
    await client.runTurn(threadId, "hello");
    const { events } = await client.call("thread/events/list", { threadId });
    for (const seen of [events, client.events]) expect(JSON.stringify(seen)).not.toContain(KEY);
  });
});

/** The methods of an engine, to be destructured. */
function bound(engine: ReturnType<typeof testEngine>) {
  return { connect: () => engine.connect(), driver: engine.driver };
}
