import { leavesNoProcess } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { commandFixture } from "./flint.ts";

const TEST_MS = 120_000;

test(
  "flint agm answers line by line, and another process reads what was posted",
  async () => {
    leavesNoProcess(10_000);
    const { flint } = await commandFixture();
    onTestFinished(async () => void (await flint(["server", "stop"])));
    const send = async (...requests: object[]) => {
      const { code, stdout, stderr } = await flint(["agm"], {
        stdin: requests.map((request) => `${JSON.stringify(request)}\n`).join(""),
      });
      expect([code, stderr]).toEqual([0, ""]);
      return stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    const [created, unknown] = await send(
      { method: "session.create", params: { title: "Port it" } },
      { method: "session.drop" },
    );
    expect(created).toMatchObject({ ok: true, data: { title: "Port it", status: "open" } });
    expect(unknown).toMatchObject({ ok: false, code: "INVALID_METHOD" });
    const { id } = created.data;
    const [posted, event] = await send({ method: "session.post", params: { id, content: "hello" } });
    expect(event).toMatchObject({ type: "session:message", message_id: posted.data.id });
    const [messages] = await send({ method: "session.messages", params: { id } });
    expect(messages).toMatchObject({ ok: true, data: { count: 1, messages: [{ content: "hello" }] } });
    const [tasks] = await send({ method: "task.list" });
    expect(tasks).toEqual({ ok: true, data: { limit: 100, offset: 0, count: 0, tasks: [] } });
  },
  TEST_MS,
);
