import type { Script } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const DOWN = "\u001b[B";
const PAGE_DOWN = "\u001b[6~";
const CTRL_C = "\u0003";

/** A session, and threads of another client whose first turns play these scripts. */
async function withThreads(scripts: readonly Script[], options: { readonly rows?: number } = {}) {
  const session = await SessionFixture.open({ scripts: [...scripts], ...options });
  const stays = () => new Promise<never>(() => undefined);
  const other = await session.connect({ onApproval: stays, onQuestion: stays });
  const threads: string[] = [];
  for (const [at] of scripts.entries()) {
    const thread = await other.startThread({});
    void thread.run(`prompt ${at + 1}`, { allowFailure: true });
    threads.push(thread.id);
    await session.settle();
  }
  const turn = (at: number) => session.engine.driver.sessions[at]?.turns[0];
  return { session, other, threads, turn, screen: () => session.terminal.screen.join("\n") };
}

test("an approval that is longer than the screen is allowed only after its end was shown", async () => {
  const lines = Array.from({ length: 40 }, (_, at) => `+line ${at + 1}`);
  const diff = `@@ -0,0 +1,40 @@\n${lines.join("\n")}\n`;
  const change = { path: "/code/long.ts", kind: "add" as const, diff };
  const { session, turn, screen } = await withThreads([[{ fileChange: [change] }]]);
  await session.keys("/inbox", ENTER, "y");
  expect(screen()).toContain("Read it to its end before you allow it");
  expect(turn(0)?.decisions).toEqual([]);
  await session.keys(PAGE_DOWN, "y");
  expect([turn(0)?.decisions, screen().includes("+line 40")]).toEqual([[], false]);
  await session.keys(PAGE_DOWN);
  expect(screen()).toContain("[y] once");
  await session.keys("y");
  expect(turn(0)?.decisions).toMatchObject([{ outcome: "allow", scope: "once" }]);
});

test("what is selected stays selected when what stands before it is answered elsewhere", async () => {
  const { session, other, threads, turn, screen } = await withThreads([
    [{ command: "one" }],
    [{ command: "two" }],
  ]);
  await session.keys("/inbox", ENTER, DOWN);
  expect(screen()).toContain("$ two");
  const [threadId = ""] = threads;
  const { approvals } = await other.call("thread/attach", { threadId, turns: 0 });
  const decision = { outcome: "deny", scope: "once" } as const;
  await other.call("approval/respond", { threadId, approvalId: approvals[0]?.id ?? "", decision });
  await session.settle();
  expect(screen()).not.toMatch(/^..approval +scripted +prompt 1/m);
  await session.keys("y");
  expect(turn(0)?.decisions).toMatchObject([{ outcome: "deny" }]);
  expect(turn(1)?.decisions).toMatchObject([{ outcome: "allow" }]);
});

test("a key that was meant for what was just answered does not answer what takes its place", async () => {
  const { session, turn, screen } = await withThreads([[{ command: "one" }], [{ command: "two" }]]);
  await session.keys("/inbox", ENTER);
  session.terminal.type("y");
  await session.settle(100);
  expect(screen()).toContain("$ two");
  session.terminal.type("y");
  await session.settle(100);
  expect(turn(1)?.decisions).toEqual([]);
  await session.settle();
  await session.keys("n");
  expect(turn(1)?.decisions).toMatchObject([{ outcome: "deny" }]);
});

test("an approval in the inbox is declined with the user's words", async () => {
  const { session, turn, screen } = await withThreads([[{ command: "make" }]]);
  await session.keys("/inbox", ENTER, "m", "use npn", "\u007f", "m");
  expect(screen()).toContain("› use npm");
  await session.keys(ENTER);
  expect(turn(0)?.decisions).toMatchObject([{ outcome: "deny", message: "The user declined: use npm" }]);
  expect(screen()).toContain("No open approvals or questions.");
});

test("the message of a decline is left with Ctrl-C, and the approval still waits", async () => {
  const { session, turn, screen } = await withThreads([[{ command: "make" }]]);
  await session.keys("/inbox", ENTER, "m", "no", CTRL_C);
  expect(screen()).toContain("Allow it?");
  expect(turn(0)?.decisions).toEqual([]);
});

test("a question is answered in the inbox", async () => {
  const options = [{ label: "red" }, { label: "blue" }];
  const ask = [{ id: "colour", question: "Which colour?", options }];
  const { session, turn, screen } = await withThreads([[{ ask }]]);
  await session.keys("/inbox", ENTER);
  expect(screen()).toMatch(/▸ question +scripted +prompt 1/);
  await session.keys("r", "2", ENTER);
  expect(turn(0)?.answers).toEqual([{ colour: { answers: ["blue"] } }]);
  expect(screen()).toContain("No open approvals or questions.");
});

test("a diff is shown on the whole screen, and closing it goes back to the inbox", async () => {
  const change = { path: "/code/a.ts", kind: "modify" as const, diff: "@@ -1,1 +1,1 @@\n-a\n+b\n" };
  const { session, turn, screen } = await withThreads([[{ fileChange: [change] }]]);
  await session.keys("/inbox", ENTER, "v");
  expect(screen()).not.toContain("Waiting for you");
  await session.keys("q", "y");
  expect(turn(0)?.decisions).toMatchObject([{ outcome: "allow" }]);
});

test("an approval that follows another in the same thread appears", async () => {
  const { session, screen } = await withThreads([[{ command: "one" }, { command: "two" }]]);
  await session.keys("/inbox", ENTER, "n");
  expect(screen()).toContain("$ two");
});

test("the events of other threads are received only while the inbox is open, and then of the one that is opened", async () => {
  const { session, other, threads, turn } = await withThreads([[{ command: "one" }], [{ command: "two" }]]);
  const received: string[] = [];
  session.client.subscribe({
    event: (event) => {
      if (event.type === "approval/resolved") received.push(event.data.threadId);
    },
    ended: () => undefined,
  });
  const [first = "", second = ""] = threads;
  await session.keys("/inbox", ENTER, DOWN, ENTER);
  for (const threadId of threads) {
    const { approvals } = await other.call("thread/attach", { threadId, turns: 0 });
    const decision = { outcome: "deny", scope: "once" } as const;
    await other.call("approval/respond", { threadId, approvalId: approvals[0]?.id ?? "", decision });
  }
  await session.settle();
  expect(turn(0)?.decisions.length).toBe(1);
  expect(received).toEqual([second]);
  expect(received).not.toContain(first);
});

test("what another client answers is said, with which one", async () => {
  const ask = [{ id: "colour", question: "Which colour?" }];
  const { session, threads, screen } = await withThreads([[{ command: "make" }], [{ ask }]]);
  const stays = () => new Promise<never>(() => undefined);
  const clientInfo = { name: "zed", title: "Zed", version: "1" };
  const zed = await session.connect({ onApproval: stays, onQuestion: stays, clientInfo });
  const [first = "", second = ""] = threads;
  await session.keys("/inbox", ENTER);
  const { approvals } = await zed.call("thread/attach", { threadId: first, turns: 0 });
  const decision = { outcome: "allow", scope: "once" } as const;
  await zed.call("approval/respond", { threadId: first, approvalId: approvals[0]?.id ?? "", decision });
  await session.settle();
  expect(screen()).toContain("prompt 1: allowed once in Zed");
  await session.keys(DOWN);
  expect(screen()).not.toContain("in Zed");
  const { questions } = await zed.call("thread/attach", { threadId: second, turns: 0 });
  const answers = { colour: { answers: ["red"] } };
  await zed.call("question/respond", { threadId: second, questionId: questions[0]?.id ?? "", answers });
  await session.settle();
  expect(screen()).toContain("prompt 2: answered in Zed");
  expect(screen()).toContain("No open approvals or questions.");
});

test("what is answered here is not said to be answered elsewhere", async () => {
  const { session, screen } = await withThreads([[{ command: "make" }]]);
  await session.keys("/inbox", ENTER, "y");
  expect(screen()).toContain("No open approvals or questions.");
  expect(screen()).not.toContain("allowed once");
});
