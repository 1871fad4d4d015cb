import type { FlintClient } from "@flint/sdk";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";
import type { SessionServer } from "./connection.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const UP = "\u001b[A";

/** More turns than a server sends of a thread that is opened. */
const TURNS = 30;

const latest = {
  findThread: async ({ client }: SessionServer) => (await client.listThreads()).data[0]?.id ?? "",
};

/** A turn that adds a file of its own. */
function script(number: number) {
  const diff = "@@ -0,0 +1 @@\n+x\n";
  const changes = [{ path: `/code/f${number}.ts`, kind: "add" as const, diff }];
  return [{ fileChange: changes, asks: false }, { text: `answer ${number}` }];
}

/** A session that has just opened a thread of 30 turns; an image belongs to the second prompt. */
async function openLong() {
  const scripts = Array.from({ length: TURNS }, (_, index) => script(index + 1));
  const first = await SessionFixture.open({ scripts });
  const thread = await (await first.connect()).startThread({ cwd: "/code" });
  for (let number = 1; number <= TURNS; number += 1) {
    const image = number === 2 ? [{ type: "localImage" as const, path: "/code/plan.png" }] : [];
    await thread.run([{ type: "text", text: `prompt ${number}` }, ...image]);
  }
  first.app.close(0);
  const session = await SessionFixture.open({ engine: first.engine, start: latest, rows: 60, columns: 100 });
  return { session, screen: () => session.terminal.screen.join("\n") };
}

/** Returns the text that the session copied last. */
function copied({ terminal }: SessionFixture): string {
  const sequence = terminal.writes.join("").split("\u001b]52;c;").at(-1) ?? "";
  return Buffer.from(sequence.split("\u0007")[0] ?? "", "base64").toString();
}

/** The prompts of the thread that the session shows. */
async function promptsIn(client: FlintClient, threadId = ""): Promise<string[]> {
  const { turns = [] } = await client.call("thread/read", { threadId, includeTurns: true, limit: 100 });
  return turns.map(({ items: [item] }) => (item?.type === "userMessage" ? JSON.stringify(item) : ""));
}

test("the status of a long thread counts all of its turns", async () => {
  const { session, screen } = await openLong();
  expect(screen()).toContain("Earlier turns are not printed. Ctrl+O shows the whole thread.");
  await session.keys("/status", ENTER);
  expect(screen()).toMatch(/Turns +30\n/);
});

test("the changes of a long thread begin with its first turn, and a turn is named by its number in the thread", async () => {
  const { session, screen } = await openLong();
  await session.keys("/diff", ENTER, "g");
  expect(screen()).toContain("Added f1.ts");
  await session.keys("q", "/diff #3", ENTER);
  expect(screen()).toContain("Added f3.ts");
  expect(screen()).not.toContain("Added f4.ts");
});

test("a long thread can go back to before its earliest prompts", async () => {
  const { session, screen } = await openLong();
  await session.keys(ESCAPE, ESCAPE, UP);
  expect(screen()).toContain("#1 prompt 1\n");
  await session.keys(ESCAPE, "/rewind #3", ENTER, ENTER);
  expect(session.terminal.everything).toContain("28 turns removed, files kept.");
  expect(screen()).toContain("› prompt 3\n");
  expect(await promptsIn(session.client, session.app.thread?.id)).toHaveLength(2);
  // The user can still go back to the rest.
  await session.keys("\u0003", ESCAPE, ESCAPE);
  expect(screen()).toMatch(/#2 prompt 2.*\n.*#1 prompt 1\n/);
});

test("a rewind of a long thread that is undone gives it all its turns again", async () => {
  const { session, screen } = await openLong();
  await session.keys("/rewind #3", ENTER, ENTER, "\u0003", "/undo", ENTER, "/status", ENTER);
  expect(screen()).toMatch(/Turns +30\n/);
});

test("a copy of a long thread ends before the prompt that was chosen", async () => {
  const { session } = await openLong();
  await session.keys("/rewind #6", ENTER, UP, ENTER);
  const copy = await promptsIn(session.client, session.app.thread?.id);
  expect(copy).toHaveLength(5);
  expect(copy.at(-1)).toContain("prompt 5");
});

test("a long thread is forked at any of its turns", async () => {
  const { session } = await openLong();
  await session.keys("/fork #2", ENTER);
  const copy = await promptsIn(session.client, session.app.thread?.id);
  expect(copy).toHaveLength(2);
  expect(copy.at(-1)).toContain("prompt 2");
});

test("a long thread is copied whole, and its first prompt can be chosen", async () => {
  const { session, screen } = await openLong();
  await session.keys("/copy thread", ENTER);
  expect(copied(session)).toMatch(/prompt 1\n[\s\S]*answer 30/);
  await session.keys("/copy choose", ENTER, UP);
  expect(screen()).toContain("You: prompt 1\n");
});

test("an image at the beginning of a long thread can be opened", async () => {
  const { session } = await openLong();
  await session.keys("/open", ENTER);
  expect(session.opened).toEqual(["/code/plan.png"]);
});

test("the numbers of turns are completed up to the last one of a long thread", async () => {
  const { session, screen } = await openLong();
  await session.keys("/fork #3");
  expect(screen()).toMatch(/#3\n[\s\S]*#30\n/);
});
