import { Gate, ScriptedDriver } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";
import type { SessionServer } from "./connection.ts";

const ENTER = "\r";
const CTRL_C = "\u0003";
const ESCAPE = "\u001b";
const DIFF = "@@ -1,1 +1,1 @@\n-before\n+after\n";
const CHANGES = [{ path: "/code/a.ts", kind: "modify" as const, diff: DIFF }];

/** Text that each command shows after a turn. */
const SHOWN: readonly (readonly [typed: string, shown: string | RegExp])[] = [
  ["/agent", "Agent"],
  ["/agents", "Agents of this machine"],
  ["/model", "Model"],
  ["/settings", "Agent settings"],
  ["/permissions", "Permissions"],
  ["/plan", "Permissions: plan"],
  ["/goal", "No goal. /goal TEXT sets one."],
  ["/goal ship it", "› ship it"],
  ["/mcp", "MCP servers"],
  ["/usage", "Tokens"],
  ["/limits", "Usage limits"],
  ["/status", "Permissions"],
  ["/doctor", "All is well."],
  ["/diff", "+after"],
  ["/transcript", "› hi"],
  ["/inbox", "Waiting for you"],
  ["/tasks", "runs no tasks"],
  ["/compare", "No comparison yet."],
  ["/threads", "Threads"],
  ["/open", "There is no image in this thread."],
  ["/copy", "Copied 4 characters."],
  ["/export", /Exported to flint-\S+\.md\./],
  ["/rename better", "Ask for something"],
  ["/rewind", "Rewind to before which prompt?"],
  ["/fork", "This is a copy"],
  ["/undo", "Nothing to undo"],
  ["/rules", "No rules for this folder."],
  ["/trust", "No files in /code configure Flint or an agent."],
  ["/import", "No session of this folder."],
  ["/task", "Usage: /task PROMPT"],
  ["/task fix it", "runs no tasks"],
  ["/budget", "Budget: no limits"],
  ["/login", "Log in to scripted"],
  ["/logout", "Log out of scripted?"],
  ["/theme", "Theme"],
  ["/statusline", "Status line: Enter adds or removes"],
  ["/config", "Configuration: 1 of 3 keys set"],
  ["/next", "No other thread needs you."],
  ["/back", "No thread was open before."],
  ["/keys", "Esc Esc"],
  ["/help", "Type a prompt and press Enter."],
  ["/new", "Your next prompt starts a new thread."],
];

test.each(SHOWN)("%s", async (typed, shown) => {
  const scripts = [[{ fileChange: CHANGES, asks: false }, { text: "done" }]];
  const session = await SessionFixture.open({ rows: 60, scripts });
  await session.keys("hi", ENTER, typed, ENTER);
  const screen = session.terminal.screen.join("\n");
  if (typeof shown === "string") expect(screen).toContain(shown);
  else expect(screen).toMatch(shown);
});

/** Differences in plain mode, where nothing stays on the screen. */
const PLAIN: Readonly<Record<string, string>> = {
  "/goal ship it": "You: ship it",
  "/transcript": "You: hi",
  "/copy": "Copying is not available in plain mode.",
  "/rename better": "You: ",
};

test.each(SHOWN)("%s in plain mode", async (typed, shown) => {
  const scripts = [[{ fileChange: CHANGES, asks: false }, { text: "done" }]];
  const session = await SessionFixture.open({ rows: 60, screen: "plain", scripts });
  await session.keys("hi", ENTER, typed);
  const before = session.terminal.writes.length;
  await session.keys(ENTER);
  const printed = session.terminal.writes.slice(before).join("");
  const expected = PLAIN[typed] ?? shown;
  if (typeof expected === "string") expect(printed).toContain(expected);
  else expect(printed).toMatch(expected);
  expect(printed).not.toContain(ESCAPE);
});

test.each([
  ["/review", "Review: "],
  ["/compact", "Context compacted"],
])("%s starts a turn", async (typed, shown) => {
  const compaction = { type: "contextCompaction" as const, id: "c" };
  const emit = { type: "item/completed" as const, item: compaction };
  const scripts = [[{ text: "done" }], [{ emit }, { text: "more" }]];
  const session = await SessionFixture.open({ scripts });
  await session.keys("hi", ENTER, typed, ENTER);
  expect(session.terminal.everything).toContain(shown);
});

test("a session can begin with a goal", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "done" }]] });
  await session.keys("/goal", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("No goal. /goal TEXT sets one.");
  expect((await session.client.listThreads()).data).toEqual([]);
  await session.keys("/goal ship it", ENTER);
  expect(session.terminal.everything).toContain("› ship it\n\ndone\n");
});

test("a command that makes no sense now says why", async () => {
  const gate = new Gate();
  const session = await SessionFixture.open({ scripts: [[{ wait: gate }]] });
  await session.keys("hi", ENTER, "/compact", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("Not now: a turn is running.");
  gate.open();
});

test("the palette finds a command by words of its title", async () => {
  const session = await SessionFixture.open();
  await session.keys("\u0010", "mcp", ENTER);
  expect(session.terminal.screen[0]).toBe("MCP servers");
});

describe("the agent's own commands", () => {
  const commands = [
    { name: "init", description: "Write AGENTS.md", hint: "folder" },
    { name: "two words", description: "cannot be typed" },
    { name: "status", description: "Not this one: Flint has a command of that name" },
  ];
  const reporting = { emit: { type: "commands" as const, commands } };

  test("are completed below Flint's, and sent as they are", async () => {
    const session = await SessionFixture.open({ scripts: [[reporting, { text: "A" }], [{ text: "B" }]] });
    await session.keys("hi", ENTER, "/ini");
    expect(session.terminal.screen.join("\n")).toContain("init  folder  Write AGENTS.md");
    await session.keys(ENTER);
    expect(session.terminal.everything).toContain("› /init");
    await session.keys("/");
    expect(session.terminal.screen.join("\n")).not.toMatch(/two words|Not this one/);
  });

  test("are there in a thread that is resumed, and only as long as that agent is chosen", async () => {
    const otherDrivers = [new ScriptedDriver({ id: "other" })];
    const first = await SessionFixture.open({ otherDrivers, scripts: [[reporting, { text: "A" }]] });
    await first.keys("hi", ENTER);
    const { engine } = first;
    const findThread = async ({ client }: SessionServer) => {
      const { data } = await client.listThreads();
      return data[0]?.id ?? "";
    };
    const second = await SessionFixture.open({ engine, start: { findThread } });
    await second.keys("/ini");
    expect(second.terminal.screen.join("\n")).toContain("Write AGENTS.md");
    await second.keys(CTRL_C, CTRL_C, "/agent other", ENTER, "/ini");
    expect(second.terminal.screen.join("\n")).toContain("› /ini");
    expect(second.terminal.screen.join("\n")).not.toContain("Write AGENTS.md");
  });
});

test("a diff that waits for approval is shown on the whole screen in two columns, and answered afterwards", async () => {
  const session = await SessionFixture.open({ columns: 120, scripts: [[{ fileChange: CHANGES }]] });
  await session.keys("change it", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("v shows it on the whole screen");
  await session.keys("v");
  expect(session.terminal.isAlternate).toBe(true);
  expect(session.terminal.screen.join("\n")).toMatch(/-before +│ 1 \+after/);
  await session.keys("s");
  expect(session.terminal.screen.join("\n")).not.toContain("│");
  await session.keys("q", "y");
  expect(session.terminal.everything).toContain("→ allowed once");
  await session.keys(ESCAPE);
});
