import { expect, test } from "vitest";
import { CLAUDE_FOLDER } from "../../shared/folders/agent-folders.ts";
import { folderPath } from "../../shared/folders/agent-paths.ts";
import { claudeArguments, claudeEnvironment } from "./launch.ts";

const SESSION = { id: "11111111-1111-4111-8111-111111111111", isKnown: false };
const FULL_ACCESS = { model: "claude/default", sandboxPolicy: { type: "dangerFullAccess" } } as const;
const START = { session: SESSION, settings: FULL_ACCESS, instructions: "" };

test("[S3-49] [S4-1] starts Claude in verbose print mode, with stream-json both ways and a permission mode", () => {
  expect(claudeArguments(START)).toEqual([
    ...["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"],
    ...["--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio"],
    ...["--include-hook-events", "--permission-mode", "default"],
    ...["--strict-mcp-config", "--setting-sources", "user"],
    ...["--session-id", SESSION.id],
  ]);
});

test("limits the steps of a turn only if a limit is configured", () => {
  expect(claudeArguments({ ...START, stepLimit: 7 }).slice(-2)).toEqual(["--max-turns", "7"]);
});

test("uses the settings of the project only if they are trusted", () => {
  expect(claudeArguments({ ...START, usesProject: true })).toContain("user,project,local");
});

test("resumes a known session, with the model and the instructions if there are any", () => {
  const session = { ...SESSION, isKnown: true };
  const settings = { model: "claude/opus", sandboxPolicy: { type: "readOnly" } } as const;
  const start = { session, settings, instructions: "Be brief." };
  expect(claudeArguments(start).slice(-8)).toEqual([
    ...["--resume", SESSION.id, "--model", "opus", "--append-system-prompt", "Be brief."],
    ...["--settings", '{"sandbox":{"enabled":false}}'],
  ]);
});

test("forks the copied session under a new id, until Claude knows that one", () => {
  const session = { ...SESSION, forkOf: "22222222-2222-4222-8222-222222222222" };
  expect(claudeArguments({ ...START, session }).slice(-5)).toEqual([
    ...["--resume", session.forkOf, "--fork-session", "--session-id", SESSION.id],
  ]);
  const at = "33333333-3333-4333-8333-333333333333";
  expect(claudeArguments({ ...START, session: { ...session, forkAt: at } }).slice(-7)).toEqual([
    ...["--resume", session.forkOf, "--fork-session", "--resume-session-at", at, "--session-id", SESSION.id],
  ]);
  const known = { ...session, forkAt: at, isKnown: true };
  expect(claudeArguments({ ...START, session: known }).slice(-2)).toEqual(["--resume", SESSION.id]);
});

test("gives Claude no key and a separate folder on the offline model", () => {
  const program = { command: ["claude"], environment: { ANTHROPIC_API_KEY: "secret" } };
  const offline = { url: "http://127.0.0.1:1", folder: "/elsewhere" };
  const environment = claudeEnvironment(program, offline);
  expect(environment).toMatchObject({ ANTHROPIC_BASE_URL: offline.url, ANTHROPIC_API_KEY: "none" });
  expect(folderPath(CLAUDE_FOLDER, environment, "/home/ada")).toBe("/elsewhere");
  expect(folderPath(CLAUDE_FOLDER, claudeEnvironment(program, undefined), "/home/ada")).toBe(
    "/home/ada/.claude",
  );
});
