import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  descendantsOf,
  leavesNoProcess,
  type TestClient,
  temporaryFolder,
  testEngine,
  waitForExit,
  writeFakeAgent,
} from "@flint/testkit";
import { expect, test } from "vitest";
import { ClaudeDriver } from "./driver.ts";
import { BEGIN, DONE, message, WELCOME } from "./testing/fake-frames.ts";

const IDLE_MS = 60_000;
const THREADS = 10;

test("stops the processes of ten idle threads, and resumes their sessions with the next turn", async () => {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const command = await writeFakeAgent(path, [
    ...WELCOME,
    { forever: [...BEGIN, message("Started with {{argv}}"), ...DONE] },
  ]);
  const { made, client } = engineOn(command, path);
  const threadIds: string[] = [];
  for (let thread = 0; thread < THREADS; thread += 1) {
    const threadId = await client.startThread({ model: "claude/default" });
    expect(await answerOf(client, threadId)).toContain("--session-id");
    threadIds.push(threadId);
  }
  const running = agentsIn(path);
  expect(running.length).toBeGreaterThanOrEqual(THREADS);
  // The client is still subscribed: the threads stay loaded, their agents do not.
  await made.clock.advance(2 * IDLE_MS);
  await waitForExit(running);
  for (const threadId of threadIds) {
    const { thread } = await client.call("thread/read", { threadId });
    expect(thread.status.type).toBe("idle");
  }
  expect(await answerOf(client, threadIds[0] ?? "")).toContain("--resume,a-session");
  expect(await answerOf(client, threadIds[9] ?? "")).toContain("--resume,a-session");
});

test.each(["has a subscriber", "has no subscriber"])(
  "keeps the process of a thread that %s while a background task runs",
  async (subscription) => {
    leavesNoProcess();
    const { path } = await temporaryFolder();
    const started = { type: "system", subtype: "task_started", task_id: "t", is_backgrounded: true };
    const ended = { type: "system", subtype: "task_notification", task_id: "t", summary: "Done." };
    const command = await writeFakeAgent(path, [
      ...[...WELCOME, ...BEGIN, { send: started }, message("It builds."), ...DONE],
      ...[...BEGIN, { send: ended }, message("It is built."), ...DONE, { expect: { type: "nothing" } }],
    ]);
    const { made, client } = engineOn(command, path);
    const threadId = await client.startThread({ model: "claude/default" });
    await answerOf(client, threadId);
    const running = agentsIn(path);
    const leave = async () => {
      if (subscription === "has no subscriber") await client.call("thread/unsubscribe", { threadId });
    };
    await leave();
    await made.clock.advance(3 * IDLE_MS);
    expect(await answerOf(client, threadId)).toContain("It is built.");
    expect(agentsIn(path)).toEqual(running);
    await leave();
    await made.clock.advance(3 * IDLE_MS);
    await waitForExit(running);
  },
);

/** The processes of the agents of one test; an earlier test may have left others. */
function agentsIn(path: string) {
  return descendantsOf(process.pid).filter(({ command }) => command.includes(path));
}

function engineOn(command: readonly string[], path: string) {
  const environment = { CLAUDE_CONFIG_DIR: join(path, "config") };
  const claude = new ClaudeDriver({ program: async () => ({ command, environment }), version: "0.0.0" });
  const made = testEngine({
    ...{ otherDrivers: [claude], idleMs: IDLE_MS, cwd: path, sandboxPolicy: { type: "dangerFullAccess" } },
    sandbox: new CommandSandbox({ environment: process.env }),
  });
  return { made, client: made.connect() };
}

async function answerOf(client: TestClient, threadId: string): Promise<string> {
  const { items } = await client.runTurn(threadId, "hello");
  return JSON.stringify(items.filter((item) => item.type === "agentMessage"));
}
