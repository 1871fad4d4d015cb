import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { JsonlStore } from "@flint/host/store";
import { Gate, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";
import type { SessionServer } from "./connection.ts";

const ENTER = "\r";
const HEADER = "Flint scripted · steady · permissions: ask · /code (main)";

const BOTTOM = "› Ask for something, / for commands\n  scripted/steady · ask · F1 for help";

const latest = {
  findThread: async ({ client }: SessionServer) => (await client.listThreads()).data[0]?.id ?? "",
};

test("a resumed thread is printed below the header", async () => {
  const first = await SessionFixture.open({ scripts: [[{ text: "Hello" }]] });
  await first.keys("hi", ENTER);
  const { engine } = first;
  const resumed = await SessionFixture.open({ engine, start: latest });
  expect(resumed.terminal.everything).toBe(`${HEADER}\n\n› hi\n\nHello\n\n${BOTTOM}`);
});

test("a resumed thread has worked for as long as before", async () => {
  const gate = new Gate();
  const first = await SessionFixture.open({ scripts: [[{ wait: gate }]] });
  await first.keys("hi", ENTER);
  await first.settle(90_000);
  gate.open();
  await first.settle();
  const resumed = await SessionFixture.open({ engine: first.engine, start: latest });
  await resumed.keys("/usage", ENTER);
  expect(resumed.terminal.screen.join("\n")).toMatch(/Worked +1m 3\ds/);
});

describe("a thread that waits for an answer shows what is asked below its history", () => {
  const history = Array.from({ length: 40 }, (_, at) => `- row ${at}`).join("\n");
  const change = { path: "/code/a.ts", kind: "modify" as const, diff: "@@ -1,1 +1,1 @@\n-safe\n+risky\n" };
  const asked = [
    ["a command", { command: "rm -rf build" }, "$ rm -rf build"],
    ["a change", { fileChange: [change] }, "+risky"],
  ] as const;

  /** The rows from the prompt of the turn that waits to the answers. */
  const waiting = ({ terminal }: SessionFixture) => {
    const rows = terminal.screen.join("\n");
    return rows.slice(rows.indexOf("› second"), rows.indexOf("Allow it?"));
  };

  test.each(asked)("%s, when it is resumed", async (_, step, subject) => {
    const first = await SessionFixture.open({ scripts: [[{ text: history }], [step]] });
    await first.keys("first", ENTER, "second", ENTER);
    for (const screen of ["inline", "full"] as const) {
      const { engine } = first;
      const resumed = await SessionFixture.open({ rows: 30, screen, engine, start: latest });
      expect(waiting(resumed)).toContain(subject);
    }
    const plain = await SessionFixture.open({ screen: "plain", engine: first.engine, start: latest });
    const read = plain.terminal.everything;
    expect(read.indexOf("You: second")).toBeGreaterThan(0);
    expect(read.lastIndexOf("Approval: ")).toBeGreaterThan(read.indexOf("You: second"));
  });

  test.each(asked)("%s, when the user goes there", async (_, step, subject) => {
    for (const way of [["\u001bn"], ["/inbox", ENTER, ENTER]]) {
      const scripts = [[{ text: "mine" }], [{ text: history }], [step]];
      const session = await SessionFixture.open({ rows: 30, scripts });
      await session.keys("home", ENTER);
      const other = await session.connect({ onApproval: () => new Promise(() => undefined) });
      const thread = await other.startThread({});
      await thread.run("first");
      void thread.run("second", { allowFailure: true });
      await session.settle();
      await session.keys(...way);
      expect(waiting(session)).toContain(subject);
      await session.keys("y");
      expect(session.terminal.screen.join("\n")).toContain("allowed once");
    }
  });
});

test("what is typed while the thread is being opened is for that thread, and other drafts are not", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const first = await SessionFixture.open({ notesFolder, scripts: [[{ text: "Hello" }]] });
  await first.keys("hi", ENTER, "/new", ENTER, "draft of a new thread");
  first.app.close(0);
  const gate = new Gate();
  const findThread = async (server: SessionServer) => {
    await gate.wait();
    return latest.findThread(server);
  };
  const resumed = await SessionFixture.open({ engine: first.engine, notesFolder, start: { findThread } });
  await resumed.keys("go on");
  gate.open();
  await resumed.settle();
  expect(resumed.terminal.everything).toContain("Hello\n\n› go on\n");
  resumed.app.close(0);
  const fresh = await SessionFixture.open({ engine: first.engine, notesFolder });
  expect(fresh.terminal.everything).toContain("› draft of a new thread\n");
});

describe("going from thread to thread", () => {
  const scripts = [[{ text: "A" }], [{ text: "B" }], [{ text: "C" }]];
  const ONE = `${HEADER}\n\n› one\n\nA\n`;
  const TWO = `${HEADER}\n\n› two\n\nB\n`;

  test("prints each below a header of its own, also one that was shown before", async () => {
    const session = await SessionFixture.open({ scripts });
    await session.keys("one", ENTER, "/new", ENTER, "two", ENTER, "/back", ENTER, "/back", ENTER);
    expect(session.terminal.everything).toContain(`${ONE}\n${TWO}\n${ONE}\n${TWO}\n› Ask for something`);
    await session.keys("three", ENTER);
    expect(session.terminal.everything.endsWith(`${TWO}\n› three\n\nC\n\n${BOTTOM}`)).toBe(true);
  });

  test("prints the end of a long one only", async () => {
    const many = Array.from({ length: 6 }, (_, index) => [{ text: `answer ${index}` }]);
    const session = await SessionFixture.open({ rows: 60, scripts: many });
    for (const prompt of ["0", "1", "2", "3", "4", "/new", "5", "/back"]) await session.keys(prompt, ENTER);
    const { everything } = session.terminal;
    const again = everything.slice(everything.lastIndexOf(HEADER));
    expect(again).toContain(`${HEADER}\n\n› 2\n\nanswer 2\n`);
    expect(again).toContain("2 earlier turns are not printed.");
  });

  test("shows a change whole that was seen in an approval long ago", async () => {
    const diff = "@@ -1,1 +1,1 @@\n-before\n+after\n";
    const changes = [{ path: "/code/a.ts", kind: "modify" as const, diff }];
    const session = await SessionFixture.open({ scripts: [[{ fileChange: changes }], [{ text: "B" }]] });
    await session.keys("one", ENTER, "y", "/new", ENTER, "two", ENTER, "/back", ENTER);
    const { everything } = session.terminal;
    expect(everything.slice(everything.lastIndexOf(HEADER))).toContain("+after");
  });

  test("fills the full screen with the thread that is shown alone", async () => {
    const session = await SessionFixture.open({ screen: "full", scripts });
    const screen = () => session.terminal.screen.join("\n");
    await session.keys("one", ENTER, "/new", ENTER);
    expect(screen()).toMatch(/^Flint scripted [^\n]+\n\n+› Ask for something/);
    await session.keys("two", ENTER);
    expect(screen()).toContain(TWO);
    await session.keys("/back", ENTER);
    expect(screen()).toContain(ONE);
    expect(screen()).not.toContain("two");
    session.terminal.resize(60, 24);
    await session.settle();
    expect(screen()).toContain(ONE);
  });
});

test("a thread that is left in the middle of a message does not hold back later notices", async () => {
  const item = { type: "agentMessage" as const, id: "m", text: "" };
  const started = { emit: { type: "item/started" as const, item } };
  const delta = {
    type: "item/agentMessage/delta" as const,
    itemId: "m",
    delta: "Begun.\n\nMore.\n\nNot fin",
  };
  const session = await SessionFixture.open({ scripts: [[started, { emit: delta }, { wait: new Gate() }]] });
  await session.keys("one", ENTER);
  expect(session.terminal.everything).toContain("Begun.\n\nMore.\n\nNot fin");
  await session.keys("/new", ENTER);
  await session.cut();
  expect(session.terminal.everything).toContain("Connecting again.");
});

test("a damaged log is said when the thread is opened, and everything else of it is shown", async () => {
  const { path: root } = await temporaryFolder();
  const scripts = [[{ text: "one" }], [{ text: "two" }]];
  const first = await SessionFixture.open({
    store: new JsonlStore({ root, durability: "relaxed" }),
    scripts,
  });
  const shown = (session: SessionFixture) => async () => {
    // The store works in real time, the session in the test's.
    await session.settle(100);
    return session.terminal.everything;
  };
  await first.keys("hi", ENTER);
  await expect.poll(shown(first), { timeout: 20_000 }).toContain("one\n\n› Ask");
  await first.keys("again", ENTER);
  await expect.poll(shown(first), { timeout: 20_000 }).toContain("two\n\n› Ask");
  first.app.close(0);
  await first.engine.close();
  await damage(root);

  const store = new JsonlStore({ root, durability: "relaxed" });
  const resumed = await SessionFixture.open({ store, start: latest });
  await expect
    .poll(shown(resumed), { timeout: 20_000 })
    .toContain(`${HEADER}\n\n! The log of this thread is damaged: 1 unreadable`);
  expect(resumed.terminal.everything).toMatch(/Everything else is intact\.[\s\S]+two\n\n› Ask/);
});

/** Breaks a line in the middle of the only log of a store. */
async function damage(root: string): Promise<void> {
  const [thread = ""] = await readdir(join(root, "threads"));
  const log = join(root, "threads", thread, "events.jsonl");
  const lines = (await readFile(log, "utf8")).split("\n");
  lines[Math.floor(lines.length / 2)] = '{"seq":';
  await writeFile(log, lines.join("\n"));
}
