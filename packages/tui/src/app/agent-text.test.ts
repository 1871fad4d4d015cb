import type { Action, Permission } from "@flint/protocol";
import { ScriptedDriver } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";

/** Sets the clipboard, erases the screen, begins a row, and turns the direction of what follows. */
const EVIL = "/tmp/\u001b]52;c;b3duZWQ=\u0007\u001b[2J\r\u202eeerf\u009b3J";
const SHOWN = "/tmp/\\u{1b}]52;c;b3duZWQ=\\u{7}\\u{1b}[2J\\u{d}\\u{202e}eerf\\u{9b}3J";

/** Returns the text on the screen, without the breaks of long lines. */
const shown = ({ terminal }: SessionFixture) => terminal.screen.map((row) => row.trim()).join("");

// The terminal of the fixture rejects every sequence that is not the session's own.
describe("text of an agent never steers the terminal: what an approval asks for", () => {
  const needs: Permission = { write: [EVIL] };
  const actions: readonly (readonly [string, Action])[] = [
    ["for a command", { kind: "command", itemId: "c", command: "make", cwd: "/code", needs }],
    [
      "for a running command",
      { kind: "command", itemId: "c", command: "make", cwd: "/code", needs, running: true },
    ],
    ["for a tool", { kind: "tool", itemId: "t", tool: "permissions", needs }],
  ];

  test.each(actions)("%s [P36]", async (_, approve) => {
    for (const screen of ["inline", "full", "plain"] as const) {
      const session = await SessionFixture.open({ screen, rows: 40, scripts: [[{ approve }]] });
      await session.keys("go", ENTER);
      expect(shown(session)).toContain(SHOWN);
    }
  });

  test("a line break in a path is not the end of the question [P36]", async () => {
    const approve: Action = { kind: "tool", itemId: "t", tool: "permissions", needs: { write: ["/a\nb"] } };
    const session = await SessionFixture.open({ scripts: [[{ approve }]] });
    await session.keys("go", ENTER);
    expect(session.terminal.everything).toContain("▸ Allow the agent to write /a\\u{a}b?");
  });
});

test("the name of an MCP server never steers the terminal [P36]", async () => {
  const driver = new ScriptedDriver({ mcpServers: [{ name: EVIL, status: "failed", error: EVIL }] });
  const session = await SessionFixture.open({ driver, columns: 200 });
  await session.keys("/mcp", ENTER);
  expect(session.terminal.screen.join("\n")).toContain(`${SHOWN} failed: ${SHOWN}`);
});

test("the account of a usage limit never steers the terminal [P36]", async () => {
  const limits = [{ window: "5 hours", status: "ok", source: "frame", account: EVIL, model: EVIL }] as const;
  const session = await SessionFixture.open({
    columns: 200,
    scripts: [[{ emit: { type: "limits", limits } }, { text: "ok" }]],
  });
  await session.keys("go", ENTER, "/limits", ENTER);
  expect(session.terminal.screen.join("\n")).toContain(`scripted (${SHOWN}, ${SHOWN})`);
});
