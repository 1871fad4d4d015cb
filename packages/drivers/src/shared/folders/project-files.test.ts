import type { Steering } from "@flint/core/ports";
import { expect, test } from "vitest";
import { CLAUDE_ACP_PROJECT, CLAUDE_PROJECT, maskedPaths, unknownProject } from "./project-files.ts";

const TRUSTED: Steering = {
  trusted: [
    { folder: "/work", path: ".mcp.json" },
    { folder: "/work", path: ".claude/settings.json" },
  ],
  untrusted: [],
  notices: [],
};

test("an agent that would start the servers of a trusted .mcp.json itself does not see it", () => {
  expect(maskedPaths(CLAUDE_ACP_PROJECT, TRUSTED)).toEqual(["/work/.mcp.json"]);
  expect(maskedPaths(unknownProject("other"), TRUSTED)).toEqual(["/work/.mcp.json"]);
  expect(maskedPaths(CLAUDE_PROJECT, TRUSTED)).toEqual([]);
});

test("without a sandbox a trusted .mcp.json is left to the agent", () => {
  expect(maskedPaths(CLAUDE_ACP_PROJECT, TRUSTED, false)).toEqual([]);
});

test("everything that steers an agent is hidden while a part of it is not trusted", () => {
  const untrusted = [{ folder: "/work", path: ".claude/settings.json" }];
  expect(maskedPaths(CLAUDE_ACP_PROJECT, { ...TRUSTED, trusted: [], untrusted })).toEqual([
    "/work/.claude",
    "/work/.mcp.json",
  ]);
});
