import { testEngine } from "@flint/testkit";
import { expect, test } from "vitest";

test("a notice about the server reaches the client of the first thread, once", async () => {
  const client = testEngine({ notice: "Not the server you asked for." }).connect();
  const { thread } = await client.call("thread/start", {});
  const warning = await client.waitFor("warning");
  const data = { threadId: thread.id, message: "Not the server you asked for.", reason: "server" };
  expect(warning.data).toEqual(data);
  await client.call("thread/start", {});
  await client.call("thread/attach", { threadId: thread.id });
  expect(client.events.filter(({ type }) => type === "warning")).toHaveLength(1);
});
