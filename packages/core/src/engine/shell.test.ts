import { testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

const EXITED = { exitCode: 3, durationMs: 5, ended: "exited" } as const;

describe("a shell command of the user", () => {
  test("is a turn without an agent, confined like any other, and mentioned to the agent afterwards", async () => {
    const server = testEngine({ scripts: [[{ text: "I see." }]] });
    const client = server.connect();
    const threadId = await client.startThread();
    server.sandbox.play = async ({ onOutput }) => {
      onOutput("two failures\n", "stdout");
      return EXITED;
    };
    const requested = { threadId, command: "npm test", timeoutMs: 5_000 };
    const { turn } = await client.call("thread/shellCommand", requested);
    const ended = await client.turnEnd(turn.id);
    expect(ended).toMatchObject({ kind: "shell", status: "completed" });
    expect(ended.items).toMatchObject([
      { type: "commandExecution", command: "npm test", exitCode: 3, status: "failed", source: "userShell" },
    ]);
    const policy = { type: "workspaceWrite" };
    const launched = { command: ["sh", "-c", "npm test"], cwd: "/code", policy, timeoutMs: 5_000 };
    expect(server.sandbox.launches).toMatchObject([launched]);
    expect(server.driver.turns).toEqual([]);
    await client.runTurn(threadId, "fix it");
    const [note, asked] = server.driver.turns[0]?.input ?? [];
    expect(note).toMatchObject({ text: expect.stringMatching(/npm test.*exit code 3.*two failures/s) });
    expect(asked).toEqual({ type: "text", text: "fix it" });
    const shown = (await client.call("thread/read", { threadId, includeTurns: true })).turns?.at(-1);
    expect(shown?.items[0]).toMatchObject({ content: [{ text: "fix it" }] });
  });

  test("streams exactly the output that its item stores, however long it is", async () => {
    const server = testEngine();
    const client = server.connect();
    const threadId = await client.startThread();
    server.sandbox.play = async ({ onOutput }) => {
      onOutput("START\n", "stdout");
      for (let count = 0; count < 3; count += 1) onOutput("é".repeat(300_000), "stdout");
      onOutput("\nEND", "stdout");
      return EXITED;
    };
    const { turn } = await client.call("thread/shellCommand", { threadId, command: "make" });
    await client.turnEnd(turn.id);
    const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
    const [item] = turns?.at(-1)?.items ?? [];
    const deltas = client.eventsOf("item/commandExecution/outputDelta").map(({ data }) => data.delta);
    expect(item).toMatchObject({
      aggregatedOutput: expect.stringMatching(/^START\n.*\n\[\.\.\. \d+ bytes left out \.\.\.\]\n.*\nEND$/s),
      omittedOutputBytes: expect.any(Number),
    });
    expect(deltas.join("")).toBe(item?.type === "commandExecution" && Reflect.get(item, "aggregatedOutput"));
  });

  test("can be interrupted, and none of its processes is left when the turn has ended", async () => {
    const server = testEngine();
    const client = server.connect();
    const threadId = await client.startThread();
    server.sandbox.play = ({ signal }) =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve({ ...EXITED, ended: "aborted" }));
      });
    const { turn } = await client.call("thread/shellCommand", { threadId, command: "sleep 99" });
    await client.waitFor("item/started", () => true);
    await client.call("turn/interrupt", { threadId });
    expect(await client.turnEnd(turn.id)).toMatchObject({ status: "interrupted" });
  });

  test("is rejected while a turn is running, with the id of that turn", async () => {
    const server = testEngine();
    const client = server.connect();
    const threadId = await client.startThread();
    server.sandbox.play = () => new Promise(() => undefined);
    const { turn } = await client.call("thread/shellCommand", { threadId, command: "sleep 99" });
    const second = client.call("thread/shellCommand", { threadId, command: "ls" });
    await expect(second).rejects.toMatchObject({ kind: "turnInProgress", data: { activeTurnId: turn.id } });
  });
});

describe("the settings of a thread", () => {
  test("can be changed without a turn, and all subscribers are sent the change", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    const requested = { threadId, approvalPolicy: "always", cwd: "/there" } as const;
    const { settings } = await client.call("thread/settings/update", requested);
    expect(settings).toMatchObject({ approvalPolicy: "always", cwd: "/there" });
    expect(client.eventsOf("thread/settings/updated").at(-1)?.data).toEqual({ threadId, settings });
    await client.call("thread/settings/update", requested);
    expect(client.eventsOf("thread/settings/updated")).toHaveLength(1);
  });

  test("cannot be changed to something that does not exist", async () => {
    const client = testEngine().connect();
    const threadId = await client.startThread();
    const refused = client.call("thread/settings/update", { threadId, model: "unknown/model" });
    await expect(refused).rejects.toMatchObject({ kind: "invalidParams" });
  });
});
