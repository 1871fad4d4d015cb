import { writeFile } from "node:fs/promises";
import { Gate, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const CTRL_C = "\u0003";
const ALT_Z = "\u001bz";
const TAB = "\t";
const ALT_UP = "\u001b[1;3A";
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("a prompt that the server refuses", () => {
  test("is in the composer again, below the reason", async () => {
    const folders = ["/code"];
    const session = await SessionFixture.open({ folders, scripts: [[{ text: "ok" }]] });
    folders.length = 0;
    await session.keys("run the tests", ENTER);
    expect(session.terminal.everything).toMatch(/\/code[\s\S]*\n\n› run the tests\n/);
    folders.push("/code");
    await session.keys(ENTER);
    expect(session.terminal.everything).toContain("› run the tests\n\nok\n\n› Ask for something");
  });

  test("comes back when the server dies before it has answered", async () => {
    const session = await SessionFixture.open();
    session.terminal.type("run the tests");
    session.terminal.type(ENTER);
    await session.cut();
    await session.settle();
    expect(session.terminal.everything).toMatch(/Connecting again[\s\S]*› run the tests\n/);
  });

  test("stashes a failed prompt if the composer has new text", async () => {
    const folders = ["/code"];
    const session = await SessionFixture.open({ folders });
    folders.length = 0;
    session.terminal.type("first");
    session.terminal.type(ENTER);
    await session.keys("second");
    expect(session.terminal.screen.join("\n")).toContain("› second\n");
    expect(session.terminal.screen.join("\n")).toContain("Your prompt was put aside. Alt+Z brings it back");
    await session.keys(CTRL_C, ALT_Z);
    expect(session.terminal.screen.join("\n")).toContain("› first\n");
  });

  test("restores a stashed shell command", async () => {
    const folders = ["/code"];
    const session = await SessionFixture.open({ folders });
    folders.length = 0;
    await session.keys("!ls", ENTER);
    expect(session.terminal.screen.join("\n")).toContain("› !ls\n");
  });
});

describe("a prompt that is entered while the server cannot be reached", () => {
  test("is sent as soon as it can", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "ok" }]] });
    await session.cut();
    session.terminal.type("run the tests");
    session.terminal.type(ENTER);
    await session.settle(0);
    expect(session.terminal.screen.join("\n")).toContain("Your prompt is sent as soon as");
    await session.settle(5_000);
    expect(session.terminal.everything).toContain("› run the tests\n\nok\n");
    expect(session.terminal.everything).not.toContain("Your prompt is sent");
  });

  test("is not sent if it was edited since", async () => {
    const session = await SessionFixture.open();
    await session.cut();
    session.terminal.type("run the tests");
    session.terminal.type(ENTER);
    session.terminal.type(" again");
    await session.settle(5_000);
    expect(session.terminal.screen.join("\n")).toContain("› run the tests again\n");
  });

  test("is sent after the start of a session too", async () => {
    const session = new SessionFixture({ scripts: [[{ text: "ok" }]] });
    session.terminal.type("run the tests");
    session.terminal.type(ENTER);
    await session.settle(1_000);
    expect(session.terminal.everything).toContain("› run the tests\n\nok\n");
  });
});

describe("a command that is entered before it can be carried out", () => {
  test("is carried out once the server has answered", async () => {
    const session = new SessionFixture();
    session.terminal.type("/status");
    session.terminal.type(ENTER);
    await session.settle(0);
    await session.settle();
    expect(session.terminal.screen.join("\n")).toContain("(starts with the first prompt)");
  });

  test("waits for the thread that is resumed, and so does a prompt", async () => {
    const first = await SessionFixture.open({ scripts: [[{ text: "one" }], [{ text: "two" }]] });
    await first.keys("hello", ENTER);
    const { data } = await first.client.listThreads();
    first.app.close(0);
    const found = new Gate();
    const findThread = async () => {
      await found.opened;
      return data[0]?.id ?? "";
    };
    const session = new SessionFixture({ engine: first.engine, start: { findThread } });
    await session.settle();
    await session.keys("go on", ENTER);
    expect(session.terminal.screen.join("\n")).toContain("› go on");
    found.open();
    await session.settle();
    expect(session.terminal.everything).toMatch(/› hello\n[\s\S]*one\n[\s\S]*› go on\n\ntwo\n/);
    expect((await session.client.listThreads()).data).toHaveLength(1);
  });

  test("runs input entered while disconnected after reconnecting", async () => {
    const session = await SessionFixture.open();
    await session.cut();
    session.terminal.type("/model");
    session.terminal.type(ENTER);
    await session.settle(0);
    expect(session.terminal.screen.join("\n")).toContain("› /model");
    expect(session.terminal.screen.join("\n")).toContain("is sent as soon as");
    await session.settle(5_000);
    expect(session.terminal.screen.join("\n")).toContain("scripted/steady");
    expect(session.terminal.screen.join("\n")).toContain("to choose");
  });

  test("shows help and quits without a server all the same", async () => {
    const session = await SessionFixture.open();
    session.failures.push(new Error("gone"));
    await session.cut();
    session.terminal.type("/help");
    session.terminal.type(ENTER);
    await session.settle(0);
    expect(session.terminal.isAlternate).toBe(true);
    await session.keys("q");
    session.terminal.type("/quit");
    session.terminal.type(ENTER);
    expect(await session.exit).toBe(0);
  });

  test("keeps the input if it cannot be sent", async () => {
    const session = await SessionFixture.open();
    await session.keys("/rename the answer", ENTER);
    const screen = session.terminal.screen.join("\n");
    expect(screen).toContain("› /rename the answer\n");
    expect(screen).toContain("Not now: no thread is open.");
  });

  test("by a key says why not", async () => {
    const session = await SessionFixture.open();
    await session.cut();
    session.terminal.type("\u0014");
    await session.settle(0);
    expect(session.terminal.screen.join("\n")).toContain("Not now: the server cannot be reached.");
  });
});

test("inputs are put aside and taken back, the latest first, also in a later session", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const session = await SessionFixture.open({ notesFolder });
  await session.keys("one", ALT_Z);
  expect(session.terminal.screen.join("\n")).toContain(
    "Stashed. Press Alt+Z with an empty prompt to restore it.",
  );
  expect(session.terminal.screen.join("\n")).toContain("› Ask for something");
  await session.keys("two", ALT_Z);
  session.app.close(0);
  const later = await SessionFixture.open({ notesFolder });
  await later.keys(ALT_Z);
  expect(later.terminal.screen.join("\n")).toContain("› two\n");
  await later.keys(CTRL_C, ALT_Z);
  expect(later.terminal.screen.join("\n")).toContain("› one\n");
  await later.keys(CTRL_C, ALT_Z);
  expect(later.terminal.screen.join("\n")).toContain("Nothing was put aside.");
});

describe("an image in the composer", () => {
  const LABEL = "› [Image 1: cat.png]";

  /** Drops an image into the terminal, as terminals do: its path is pasted. */
  async function drop(session: SessionFixture, path: string): Promise<void> {
    await writeFile(path, PNG);
    session.terminal.type(`${ESCAPE}[200~${path}${ESCAPE}[201~`);
    const screen = async () => {
      // The file is read in real time, and drawn in the test's.
      await session.settle(100);
      return session.terminal.screen.join("\n");
    };
    await expect.poll(screen, { timeout: 20_000 }).toContain("[Image 1: cat.png]");
  }

  /** With its size, which the transcript shows. */
  const imageAt = (path: string) => ({ type: "localImage", path, _meta: { bytes: expect.any(Number) } });

  const sentBy = (session: SessionFixture, turn: number) =>
    session.engine.driver.sessions.at(-1)?.turns[turn]?.input;

  test("is there again in a later session, and sent", async () => {
    const { path: notesFolder, join } = await temporaryFolder();
    const first = await SessionFixture.open({ notesFolder });
    await drop(first, join("cat.png"));
    first.app.close(0);
    const second = await SessionFixture.open({ notesFolder, scripts: [[{ text: "a cat" }]] });
    expect(second.terminal.screen.join("\n")).toContain(LABEL);
    await second.keys("what is it?", ENTER);
    expect(sentBy(second, 0)).toEqual([
      { type: "text", text: "[Image 1: cat.png] what is it?" },
      imageAt(join("cat.png")),
    ]);
  });

  test("restores attachments when a queued or earlier prompt is edited", async () => {
    const { join } = await temporaryFolder();
    const gate = new Gate();
    const session = await SessionFixture.open({ scripts: [[{ wait: gate }], [{ text: "a cat" }]] });
    await session.keys("work", ENTER);
    await drop(session, join("cat.png"));
    await session.keys(TAB);
    expect(session.terminal.screen.join("\n")).toContain("queued: [Image 1: cat.png]");
    await session.keys(ALT_UP, ENTER);
    expect(session.terminal.screen.join("\n")).toContain(LABEL);
    gate.open();
    await session.settle();
    await session.keys(ENTER);
    expect(sentBy(session, 1)).toContainEqual(imageAt(join("cat.png")));

    await session.keys(ESCAPE, ESCAPE, ENTER, ENTER);
    expect(session.terminal.screen.join("\n")).toMatch(/1 turn removed[\s\S]*› \[Image 1: cat\.png\]/);
    session.engine.driver.enqueue([{ text: "a cat again" }]);
    await session.keys(ENTER);
    expect(session.engine.driver.sessions.flatMap(({ turns }) => turns).at(-1)?.input).toContainEqual(
      imageAt(join("cat.png")),
    );
  });
});
