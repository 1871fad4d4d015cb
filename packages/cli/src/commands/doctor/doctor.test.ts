import { expect, test } from "vitest";
import { report } from "./doctor.ts";

test("aligns details, also next to a long name", () => {
  const shown = report([
    { name: "git", state: "ok", detail: "/usr/bin/git" },
    { name: "claude-agent-acp", state: "absent", detail: "not found", fix: "npm install it" },
  ]);
  expect(shown.split("\n")).toEqual([
    "ok  git               /usr/bin/git",
    "-   claude-agent-acp  not found",
    "                      npm install it",
    "",
  ]);
});
