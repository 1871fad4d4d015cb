import { expect, test } from "vitest";
import { bounded, report } from "./doctor.ts";

test("aligns details, also next to a long name", () => {
  const shown = report([
    { name: "git", state: "ok", detail: "/usr/bin/git\nand another" },
    { name: "claude-agent-acp", state: "absent", detail: "not found", fix: "npm install it" },
  ]);
  expect(shown.split("\n")).toEqual([
    "ok  git               /usr/bin/git",
    "                      and another",
    "-   claude-agent-acp  not found",
    "                      npm install it",
    "",
  ]);
});

test("wraps details at words within their column, on a terminal", () => {
  const detail = "Commands of Claude and Codex cannot leave their sandbox, even if you allow it.";
  const fix = "npm install -g @agentclientprotocol/claude-agent-acp";
  const shown = report([{ name: "sandbox", state: "absent", detail, fix }], { colour: false, columns: 60 });
  expect(shown.split("\n")).toEqual([
    "-   sandbox       Commands of Claude and Codex cannot leave",
    "                  their sandbox, even if you allow it.",
    "                  npm install -g",
    "                  @agentclientprotocol/claude-agent-acp",
    "",
  ]);
});

test("reports a check that does not answer in time", async () => {
  const hangs = () => new Promise<never>(() => undefined);
  expect(await bounded(hangs, "/", 10)).toEqual([
    { name: "check", state: "problem", detail: "hangs did not answer within 0.01 s" },
  ]);
});

test("colours the marks where the terminal can", () => {
  const finding = { name: "git", state: "ok", detail: "/usr/bin/git" } as const;
  expect(report([finding], { colour: true, columns: 80 })).toContain("\u001b[");
  expect(report([finding])).not.toContain("\u001b[");
});
