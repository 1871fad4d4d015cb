import { chmod, writeFile } from "node:fs/promises";
import type { BackgroundCommand } from "@flint/protocol";
import { BareDriver, Gate, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const CTRL_G = "\u0007";
const CTRL_V = "\u0016";
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Returns the text on the screen of a session whose machine works in real time. */
function screenOf(session: SessionFixture): () => Promise<string> {
  return async () => {
    await session.settle(100);
    return session.terminal.screen.join("\n");
  };
}

describe("background commands", () => {
  async function leftRunning() {
    let running: BackgroundCommand[] = [
      { processId: "1", command: "make", cwd: "/code" },
      { processId: "2", command: "npm start", cwd: "/code" },
    ];
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
    const session = await SessionFixture.open({ engine: testEngine({ driver }) });
    await session.keys("build it", ENTER);
    return session;
  }

  test("are listed by /ps, and the chosen one is stopped", async () => {
    const session = await leftRunning();
    await session.keys("/ps", ENTER);
    expect(session.terminal.screen.join("\n")).toMatch(/▸ 1: make\n {2}2: npm start/);
    await session.keys("\u001b[B", ENTER);
    expect(session.terminal.screen.join("\n")).toContain("Stopped 2.");
    await session.keys("/ps", ENTER);
    expect(session.terminal.screen.join("\n")).not.toContain("npm start");
  });

  test("are stopped by /stop, one or all of them", async () => {
    const session = await leftRunning();
    await session.keys("/stop 7", ENTER);
    expect(session.terminal.screen.join("\n")).toContain("No background command 7 is running.");
    await session.keys("/stop 1", ENTER);
    expect(session.terminal.screen.join("\n")).toContain("Stopped 1.");
    await session.keys("/stop", ENTER);
    expect(session.terminal.screen.join("\n")).toContain("Stopped 2.");
    await session.keys("/ps", ENTER);
    expect(session.terminal.screen.join("\n")).toContain("No background commands are running.");
  });
});

test("/resume opens a thread by its name, lists threads without one, and says if there is none", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "A" }], [{ text: "B" }]] });
  await session.keys("one", ENTER, "/rename tidy", ENTER, "/new", ENTER, "two", ENTER);
  await session.keys("/resume nothing", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("No thread nothing; /threads lists all.");
  await session.keys("/resume tidy", ENTER, "/transcript", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("› one");
  await session.keys("q", "/resume", ENTER);
  expect(session.terminal.screen[0]).toContain("Threads");
});

test("/quit ends the session and restores the terminal", async () => {
  const session = await SessionFixture.open();
  await session.keys("/quit", ENTER);
  expect(await session.exit).toBe(0);
  expect(session.terminal.isRaw).toBe(false);
});

test("! runs a command of the user in the thread, in its sandbox", async () => {
  const session = await SessionFixture.open();
  await session.keys("!make test", ENTER);
  expect(session.terminal.everything).toContain("$ make test");
  expect(session.engine.sandbox.launches).toMatchObject([{ cwd: "/code" }]);
  expect(JSON.stringify(session.engine.sandbox.launches[0])).toContain("make test");
});

test("Ctrl-G edits the prompt in the user's editor, with the terminal to itself", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const session = await SessionFixture.open({ notesFolder, editor: "sed -i s/one/two/" });
  await session.keys("line one");
  const before = session.terminal.writes.length;
  session.terminal.type(CTRL_G);
  await expect.poll(screenOf(session), { timeout: 20_000 }).toContain("› line two");
  const written = session.terminal.writes.slice(before).join("");
  expect(written).toContain("\u001b[?2004l");
  expect(session.terminal.isRaw).toBe(true);
  expect(session.terminal.modes.bracketedPasteMode).toBe(true);
});

test("Ctrl-G says what went wrong with the editor, and keeps the prompt", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const session = await SessionFixture.open({ notesFolder, editor: "false" });
  await session.keys("line one", CTRL_G);
  await expect.poll(screenOf(session), { timeout: 20_000 }).toContain("Your prompt is unchanged.");
  expect(session.terminal.screen.join("\n")).toContain("› line one");
});

test("Ctrl-V attaches the image in the clipboard, and it is sent", async () => {
  const { path, join } = await temporaryFolder();
  await writeFile(join("cat.png"), Buffer.from(PNG, "base64"));
  await writeFile(join("wl-paste"), `#!/bin/sh\ncat '${join("cat.png")}'\n`);
  await chmod(join("wl-paste"), 0o755);
  const programs = { "wl-paste": join("wl-paste") };
  const session = await SessionFixture.open({ notesFolder: path, programs, scripts: [[{ text: "a cat" }]] });
  session.terminal.type(CTRL_V);
  await expect.poll(screenOf(session), { timeout: 20_000 }).toMatch(/› \[Image 1: pasted-\w+\.png\]/);
  await session.keys("what is it?", ENTER);
  expect(session.engine.driver.sessions[0]?.turns[0]?.input).toMatchObject([
    { type: "text", text: expect.stringMatching(/^\[Image 1: pasted-\w+\.png\] what is it\?$/) },
    { type: "localImage", path: expect.stringContaining("/pasted-") },
  ]);
});

describe("the configuration", () => {
  const open = async (...keys: string[]) => {
    const session = await SessionFixture.open({ columns: 120 });
    await session.keys(...keys);
    return { session, screen: () => session.terminal.screen.join("\n") };
  };

  test("is listed with its sources, those keys first that are set", async () => {
    const { screen } = await open("/config", ENTER);
    expect(screen()).toContain("Configuration: 1 of 3 keys set");
    expect(screen()).toContain("sandbox = read-only  locked by /etc/flint/config.toml  About sandbox.");
    expect(screen()).toMatch(/sandbox(.|\n)*model {2}About model/);
  });

  test("a key with a few values is chosen, and colours change at once", async () => {
    const { session, screen } = await open("/config", ENTER, "theme", ENTER, "light", ENTER);
    expect(session.config.get("theme")).toBe("light");
    expect(screen()).toContain("Set theme in ~/.config/flint/config.toml.");
    expect(screen()).not.toContain("start again");
    await session.keys("/config theme unset", ENTER);
    expect(session.config.has("theme")).toBe(false);
    expect(screen()).toContain("Removed theme from ~/.config/flint/config.toml.");
    await session.keys("/config", ENTER, "theme", ENTER);
    expect(screen()).toContain("▸ not set ✓");
    await session.keys(ENTER);
    expect(session.config.has("theme")).toBe(false);
  });

  test("a key with other values is typed after its name", async () => {
    const { session, screen } = await open("/config model", ENTER);
    expect(screen()).toContain("› /config model");
    expect(screen()).toContain("model: a text.");
    await session.keys("claude/opus", ENTER);
    expect(session.config.get("model")).toBe("claude/opus");
    expect(screen()).toContain("It applies once Flint and its server start again.");
    await session.keys("/config model nonsense", ENTER);
    expect(screen()).toContain("model must be something else.");
  });

  test("a key that the administrator locks is not changed, and says who locks it", async () => {
    const { session, screen } = await open("/config sandbox off", ENTER);
    expect(screen()).toContain("The administrator of this machine locks sandbox in /etc/flint/config.toml.");
    await session.keys("/config", ENTER, "sandbox", ENTER);
    expect(screen()).toContain("The administrator of this machine locks sandbox in /etc/flint/config.toml.");
    expect(session.config.size).toBe(0);
  });

  test("keys and their values are completed, but none that is locked", async () => {
    const { session, screen } = await open("/config the");
    expect(screen()).toContain("theme dark");
    expect(screen()).toContain("theme light");
    await session.keys("\u0015", "/config sand");
    expect(screen()).not.toContain("About sandbox.");
  });
});

describe("the agents of the machine", () => {
  const open = async () => {
    const session = await SessionFixture.open({ columns: 110 });
    return { session, screen: () => session.terminal.screen.join("\n") };
  };

  test("are listed with version, login and program, and one is installed from there, with what is being done", async () => {
    const { session, screen } = await open();
    await session.keys("/agents", ENTER);
    expect(screen()).toMatch(
      /claude {2}not installed {2}flint agents install claude\n {2}other {3}1\.0 +\/bin\/other/,
    );
    const gate = new Gate();
    session.installing = gate.opened;
    await session.keys(ENTER);
    expect(screen()).toContain("Install Claude?");
    await session.keys("\u001b[B", ENTER);
    expect(screen()).toContain("Downloading claude.");
    gate.open();
    await session.settle();
    expect(screen()).toContain("! Installed claude 2.1.\n! To log in: flint acp --login claude");
    expect(screen()).not.toContain("Downloading");
    await session.keys("/agents", ENTER);
    expect(screen()).toMatch(/claude {2}2\.1 +not logged in +\/state\/claude/);
  });

  test("are installed and removed by name, and a mistake says so", async () => {
    const { session, screen } = await open();
    await session.keys("/agents inst", ENTER);
    expect(screen()).toContain("! Installed claude 2.1.");
    await session.keys("/agents remove claude", ENTER);
    expect(screen()).toContain("! Removed claude.");
    expect(session.agents.size).toBe(0);
    await session.keys("/agents install clod", ENTER);
    expect(screen()).toContain("No agent clod.");
    await session.keys("/agents upgrade claude", ENTER);
    expect(screen()).toContain("Type /agents install NAME or /agents remove NAME");
  });
});
