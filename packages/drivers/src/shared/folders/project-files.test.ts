import type { Steering } from "@flint/core/ports";
import { expect, test } from "vitest";
import { CLAUDE_ACP_PROJECT, CLAUDE_PROJECT, maskedPaths, unknownProject } from "./project-files.ts";

const TRUSTED: Steering = {
  trusted: [
    { folder: "/project", path: ".mcp.json" },
    { folder: "/project", path: ".claude/settings.json" },
  ],
  untrusted: [],
  notices: [],
};

test("an agent that would start the servers of a trusted .mcp.json itself does not see it", () => {
  expect(maskedPaths(CLAUDE_ACP_PROJECT, TRUSTED)).toEqual(["/project/.mcp.json"]);
  expect(maskedPaths(unknownProject("other"), TRUSTED)).toEqual(["/project/.mcp.json"]);
  expect(maskedPaths(CLAUDE_PROJECT, TRUSTED)).toEqual([]);
});

test("without a sandbox a trusted .mcp.json is left to the agent", () => {
  expect(maskedPaths(CLAUDE_ACP_PROJECT, TRUSTED, false)).toEqual([]);
});

test("everything that steers an agent is hidden while a part of it is not trusted", () => {
  const untrusted = [{ folder: "/project", path: ".claude/settings.json" }];
  expect(maskedPaths(CLAUDE_ACP_PROJECT, { ...TRUSTED, trusted: [], untrusted })).toEqual([
    "/project/.claude",
    "/project/.mcp.json",
  ]);
});
