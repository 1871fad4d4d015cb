import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import type { SessionFolder } from "../../shared/session-files.ts";
import { codexFixture, run } from "../testing/codex-fixture.ts";
import { codexSessions } from "./sessions.ts";

const withCodex = needs("codex");

withCodex("reads a session that the real Codex wrote, and Codex resumes it", async () => {
  const fixture = await codexFixture([
    [{ text: "I look." }, { call: "exec_command", input: { cmd: "echo hello" } }],
    [{ text: "Done." }],
    [{ text: "Again." }],
  ]);
  const { settings } = fixture;
  const first = await fixture.open();
  await run(first, { text: "make things", settings });
  await first.close();
  const sessions = codexSessions(join(fixture.stateFolder, "codex"));
  const [listed] = await sessions.list(5);
  expect(listed).toMatchObject({ cwd: fixture.cwd, preview: "make things" });
  const { turns, model, notes } = await sessions.read(listed?.id ?? "");
  expect({ notes, model }).toEqual({ notes: [], model: expect.stringMatching(/^codex\//) });
  expect(turns).toMatchObject([
    {
      status: "completed",
      items: [
        { type: "userMessage", content: [{ type: "text", text: "make things" }] },
        { type: "agentMessage", text: "I look." },
        { type: "commandExecution", command: "echo hello", status: "completed", exitCode: 0 },
        { type: "agentMessage", text: "Done." },
      ],
    },
  ]);
  const resumed = await fixture.open({ nativeId: listed?.id });
  await run(resumed, { text: "and again", settings });
  expect(JSON.stringify(fixture.model.requests.at(-1))).toContain("make things");
});

const ID = "0a1b2c3d-0000-4000-8000-000000000001";
const line = (type: string, payload: object) =>
  `${JSON.stringify({ timestamp: "2026-01-01T00:00:00Z", type, payload })}\n`;
const event = (type: string, fields: object = {}) => line("event_msg", { type, ...fields });
const META = line("session_meta", { id: ID, cwd: "/w", source: "cli" });

async function sessionsWith(...lines: string[]): Promise<SessionFolder> {
  const { path } = await temporaryFolder();
  const folder = join(path, "sessions", "2026", "01", "01");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `rollout-2026-01-01T00-00-00-${ID}.jsonl`), lines.join(""));
  return codexSessions(path);
}

test("reads the messages and commands of older versions", async () => {
  const sessions = await sessionsWith(
    ...[META, event("task_started"), event("user_message", { message: "go" })],
    event("exec_command_end", {
      ...{ call_id: "c", command: ["bash", "-lc", "ls | wc"], cwd: "/w" },
      ...{ aggregated_output: "1\n", exit_code: 0 },
    }),
    event("agent_message", { message: "yes" }),
    event("task_complete"),
  );
  expect((await sessions.list(1))[0]).toMatchObject({ preview: "go", cwd: "/w" });
  const { turns } = await sessions.read(ID);
  expect(turns[0]?.items).toMatchObject([
    { type: "userMessage" },
    { type: "commandExecution", command: "ls | wc", aggregatedOutput: "1\n" },
    { type: "agentMessage", text: "yes" },
  ]);
});

test("ends a turn without an end as interrupted, and leaves out what was rolled back", async () => {
  const prompt = (message: string) => event("task_started") + event("user_message", { message });
  const rolledBack = event("thread_rolled_back", { num_turns: 1 });
  const sessions = await sessionsWith(
    META,
    prompt("one"),
    prompt("two"),
    rolledBack,
    prompt("three"),
    "{half",
  );
  const { turns, notes } = await sessions.read(ID);
  expect(turns.map(({ status }) => status)).toEqual(["interrupted", "interrupted"]);
  expect(JSON.stringify(turns)).not.toContain("two");
  expect(notes).toEqual([]);
});

test("lists no session of a sub-agent", async () => {
  const meta = line("session_meta", { id: ID, cwd: "/w", source: { subagent: "review" } });
  expect(await (await sessionsWith(meta)).list(5)).toEqual([]);
});
