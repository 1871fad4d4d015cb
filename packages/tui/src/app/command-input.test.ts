import type { BackgroundCommand } from "@flint/protocol";
import { BareDriver, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { FakeTasks } from "../testing/fake-tasks.ts";
import { SessionFixture, type SessionFixtureOptions } from "../testing/session-fixture.ts";

const ENTER = "\r";
const TAB = "\t";
const CTRL_P = "\u0010";

function screenOf(session: SessionFixture): string {
  return session.terminal.screen.join("\n");
}

const TWO: readonly BackgroundCommand[] = [
  { processId: "1", command: "make", cwd: "/code" },
  { processId: "2", command: "npm start", cwd: "/code" },
];

/** A session whose agent has left two commands running. */
async function leftRunning(options: SessionFixtureOptions = {}): Promise<SessionFixture> {
  let running = [...TWO];
  const driver = new BareDriver({
    run: async () => ({ status: "completed" }),
    isBusy: () => running.length > 0,
    backgroundCommands: async () => running,
    stopBackgroundCommand: async (processId) => {
      const before = running.length;
      running = running.filter((command) => command.processId !== processId);
      return running.length < before;
    },
  });
  const session = await SessionFixture.open({ ...options, engine: testEngine({ driver }) });
  await session.keys("build it", ENTER);
  return session;
}

describe("the palette", () => {
  test("types out a command that needs an argument", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "A" }]] });
    await session.keys("hi", ENTER, CTRL_P, "name this", ENTER);
    expect(screenOf(session)).toContain("› /rename");
    await session.keys("tidy", ENTER, "/status", ENTER);
    expect(screenOf(session)).toMatch(/Name +tidy/);
  });

  test("stops no background command before the user has said which", async () => {
    const session = await leftRunning();
    await session.keys(CTRL_P, "or all of", ENTER);
    expect(screenOf(session)).toContain("› /stop");
    expect(screenOf(session)).toMatch(/▸ all .*\n {2}1 +make\n {2}2 +npm start/);
    await session.keys("2", ENTER);
    expect(screenOf(session)).toContain("Stopped 2.");
  });

  test("puts aside what was being written when it types out a command", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "A" }]] });
    await session.keys("hi", ENTER, "half a thought", CTRL_P, "name this", ENTER);
    expect(screenOf(session)).toContain("› /rename");
    await session.keys("tidy", ENTER, "\u001bz");
    expect(screenOf(session)).toContain("› half a thought");
  });
});

describe("arguments are completed", () => {
  test("for /resume, by the names and prompts of other threads", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "A" }], [{ text: "B" }]] });
    await session.keys("paint it", ENTER, "/rename tidy", ENTER, "/new", ENTER, "second", ENTER);
    await session.keys("/resume ");
    expect(screenOf(session)).toContain("▸ tidy  scripted");
    expect(screenOf(session)).not.toContain("  second  scripted");
    await session.keys("ti", ENTER, "/transcript", ENTER);
    expect(screenOf(session)).toContain("› paint it");
  });

  test("for /stop, by what runs in the background", async () => {
    const session = await leftRunning();
    await session.keys("/stop npm", ENTER);
    expect(screenOf(session)).toContain("Stopped 2.");
    await session.keys("/stop all", ENTER);
    expect(screenOf(session)).toContain("Stopped 1.");
  });

  test("for /tasks, by the titles of tasks", async () => {
    const tasks = new FakeTasks();
    tasks.add("mend the roof");
    tasks.add("paint the door");
    const session = await SessionFixture.open({ rows: 40, tasks });
    await session.keys("/tasks ");
    expect(screenOf(session)).toMatch(/#1 mend the roof.*\n.*#2 paint the door/);
    await session.keys("paint", ENTER);
    expect(session.terminal.screen[0]).toContain("paint the door");
  });

  test("for /settings, by the agent's own selectors and their values", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "ok" }]] });
    await session.keys("hi", ENTER, "/settings thi");
    expect(screenOf(session)).toMatch(/▸ thinking true.*\n.*thinking false/);
    await session.keys(ENTER, "\u001b", "/settings eff");
    expect(screenOf(session)).toMatch(/▸ effort low.*\n.*effort high/);
    await session.keys("ort hi", ENTER);
    expect(screenOf(session)).toContain("Effort: High");
  });

  test("for /statusline, part after part", async () => {
    const session = await SessionFixture.open();
    await session.keys("/statusline bra", TAB, "fol", ENTER);
    expect(session.config.get("status_line")).toEqual(["branch", "folder"]);
  });

  test("in plain mode they are named", async () => {
    const session = await leftRunning({ screen: "plain" });
    await session.keys("/stop ", TAB);
    expect(session.terminal.everything).toContain("Completions: all, 1, 2");
  });
});

describe("a slash command that does not exist", () => {
  const commands = [{ name: "init", description: "Write AGENTS.md" }];
  const scripts = [[{ emit: { type: "commands" as const, commands } }, { text: "A" }], [{ text: "B" }]];

  test("is held back with the one that was meant, and Enter again sends it", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "B" }]] });
    await session.keys("/hlep", ENTER);
    expect(screenOf(session)).toContain(
      "There is no command /hlep. Did you mean /help? Press Enter again to send it.",
    );
    expect(screenOf(session)).toContain("› /hlep");
    expect((await session.client.listThreads()).data).toEqual([]);
    await session.keys(ENTER);
    expect(session.terminal.everything).toContain("› /hlep\n\nB\n");
  });

  test("is held back if the agent has said which commands it knows", async () => {
    const session = await SessionFixture.open({ scripts });
    await session.keys("hi", ENTER, "/zzz now", ENTER);
    expect(screenOf(session)).toContain("There is no command /zzz. Press Enter again to send it.");
    await session.keys("\u0003", "/inti", ENTER);
    expect(screenOf(session)).toContain("Did you mean /init?");
  });

  test("is sent while the agent has not said which it knows", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "B" }]] });
    await session.keys("/zzz now", ENTER);
    expect(session.terminal.everything).toContain("› /zzz now\n\nB\n");
  });
});
