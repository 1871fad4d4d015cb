import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gate } from "@flint/testkit";
import { expect, test, vi } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const CTRL_R = "\u0012";

/** Bytes that no keyboard sends, in an order that is the same each time. */
function garbage(length: number): string {
  let state = 12_345;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const code = state % 256;
    // Ctrl-C, Ctrl-D and Ctrl-Z mean something; a keyboard that sends them quits.
    return [3, 4, 26].includes(code) ? "x" : String.fromCharCode(code);
  }).join("");
}

function paste(text: string): string {
  return `${ESCAPE}[200~${text}${ESCAPE}[201~`;
}

test("garbage from the keyboard ends nothing, and what is typed afterwards arrives", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "A" }]] });
  session.terminal.type(garbage(20_000));
  await session.settle(2_000);
  session.terminal.type(`${ESCAPE}\\`);
  await session.settle(2_000);
  for (let count = 0; count < 3; count += 1) await session.keys(ESCAPE);
  await session.keys("\u0015", "\u000b", "still here");
  expect(session.terminal.screen.join("\n")).toContain("still here");
  expect(session.terminal.isRaw).toBe(true);
});

test.each(["\u001b[", "\u001b[1;", "\u001bO", "\u001b]11;rgb:", "\u001b[200", "\u001bP>|x"])(
  "half of the sequence %j does not swallow what follows for long",
  async (half) => {
    const session = await SessionFixture.open();
    session.terminal.type(half);
    await session.settle(3_000);
    await session.keys("\u0015", "hello");
    expect(session.terminal.screen.join("\n")).toContain("hello");
  },
);

test("a paste of 10 MB is folded, and the session goes on", async () => {
  const session = await SessionFixture.open();
  session.terminal.type(paste("0123456789\n".repeat(1_000_000)));
  await session.settle();
  const screen = session.terminal.screen.join("\n");
  expect(screen).toContain("[Pasted 95326 lines]");
  expect(screen).toContain("The prompt has reached its maximum length.");
  await session.keys("\u007f", "short");
  expect(session.terminal.screen.join("\n")).toContain("› short");
});

test("a paste of 10 MB while earlier prompts are searched neither hangs nor is sent", async () => {
  const folder = mkdtempSync(join(tmpdir(), "flint-history-"));
  try {
    const session = await SessionFixture.open({ notesFolder: folder, scripts: [[{ text: "A" }]] });
    await session.keys("first", ENTER, CTRL_R);
    expect(session.terminal.screen.join("\n")).toContain("Earlier prompts");
    session.terminal.type(paste("x".repeat(10_000_000)));
    await session.settle();
    await session.keys(ESCAPE, "hi");
    expect(session.terminal.screen.join("\n")).toContain("› hi");
    expect(session.engine.driver.sessions[0]?.turns).toHaveLength(1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("200 resizes while text streams leave one composer, and all of the text", async () => {
  const gate = new Gate();
  const session = await SessionFixture.open({
    scripts: [[{ text: "alpha" }, { wait: gate }, { text: "omega" }]],
  });
  await session.keys("hi", ENTER);
  for (let count = 0; count < 200; count += 1)
    session.terminal.resize(30 + ((count * 37) % 90), 8 + (count % 20));
  session.terminal.resize(80, 24);
  await session.settle();
  gate.open();
  await session.settle();
  const { everything } = session.terminal;
  expect(everything.split("Ask for something").length - 1).toBe(1);
  expect(everything).toContain("alpha");
  expect(everything).toContain("omega");
});

test("a folder that vanishes is no reason to fail: its files are no longer offered", async () => {
  const folder = mkdtempSync(join(tmpdir(), "flint-vanishing-"));
  writeFileSync(join(folder, "abacus.txt"), "");
  const session = await SessionFixture.open({ folder });
  const screen = () => session.terminal.screen.join("\n");
  session.terminal.type("@aba");
  await vi.waitFor(async () => {
    await session.settle();
    expect(screen()).toContain("abacus.txt");
  });
  rmSync(folder, { recursive: true });
  await session.keys(ESCAPE, "\u0015", "@zzz");
  expect(screen()).toContain("› @zzz");
  expect(screen()).not.toContain("abacus.txt");
});

test("a server that cannot be reached at first is said, and nothing hangs", async () => {
  const session = await SessionFixture.open({
    failures: [new Error("The configuration is not valid: line 3.")],
  });
  expect(session.terminal.everything).toContain("The configuration is not valid: line 3.");
  session.app.close(0);
  expect(await session.exit).toBe(0);
});

test("the window is named after the thread, and gets its own name back at the end", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  await session.keys("build \u0007it", ENTER);
  const written = () => session.terminal.writes.join("");
  expect(written()).toContain("\u001b]2;! build");
  await session.keys("y");
  expect(written().lastIndexOf("\u001b]2;build")).toBeGreaterThan(0);
  session.app.close(0);
  expect(written()).toMatch(/\[23;2t$/);
});
