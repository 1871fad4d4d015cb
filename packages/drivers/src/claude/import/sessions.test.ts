import { appendFile, mkdir, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import type { SessionFolder } from "../../shared/session-files.ts";
import { realClaude, run } from "../testing/claude-fixture.ts";
import { claudeSessions } from "./sessions.ts";

const withClaude = needs("claude");

withClaude("reads a session that the real Claude wrote, and Claude resumes it", async () => {
  const fixture = await realClaude({
    script: ({ workspace }) => [
      [{ text: "I look." }, { call: "Bash", input: { command: "echo hello" } }],
      [{ call: "Write", input: { file_path: join(workspace, "b.txt"), content: "one\n" } }],
      [{ text: "Done." }],
      [{ text: "Again." }],
    ],
  });
  const first = await run(fixture, "make things");
  await first.session.close();
  const sessions = claudeSessions(fixture.config);
  const [listed] = await sessions.list(5);
  expect(listed).toMatchObject({ cwd: fixture.workspace, preview: "make things" });
  const { turns, model, notes } = await sessions.read(listed?.id ?? "");
  expect({ notes, model }).toEqual({ notes: [], model: expect.stringMatching(/^claude\//) });
  expect(turns).toMatchObject([
    {
      status: "completed",
      items: [
        { type: "userMessage", content: [{ type: "text", text: "make things" }] },
        { type: "agentMessage", text: "I look." },
        // The user's own shell may print something before it.
        {
          ...{ type: "commandExecution", command: "echo hello", status: "completed" },
          aggregatedOutput: expect.stringMatching(/hello$/),
        },
        { type: "fileChange", changes: [{ path: "b.txt", kind: "add" }], status: "completed" },
        { type: "agentMessage", text: "Done." },
      ],
    },
  ]);
  const resumed = await fixture.open({ nativeId: listed?.id });
  await run(fixture, "and again", {}, resumed);
  expect(JSON.stringify(fixture.model.requests.at(-1))).toContain("make things");
});

const ID = "0a1b2c3d-0000-4000-8000-000000000001";
const line = (fields: object) => `${JSON.stringify({ cwd: "/w", isSidechain: false, ...fields })}\n`;
const user = (uuid: string, parentUuid: string | null, content: unknown) =>
  line({ type: "user", uuid, parentUuid, message: { role: "user", content } });
const said = (uuid: string, parentUuid: string, text: string) =>
  line({ type: "assistant", uuid, parentUuid, message: { id: uuid, content: [{ type: "text", text }] } });

async function folderWith(content: string) {
  const folder = (await temporaryFolder()).path;
  const project = join(folder, "projects", "-w");
  await mkdir(project, { recursive: true });
  const path = join(project, `${ID}.jsonl`);
  await writeFile(path, content);
  return { folder, path, project, sessions: claudeSessions(folder) };
}

const textsOf = async (sessions: SessionFolder) =>
  (await sessions.read(ID)).turns.map(({ items }) => items.map((item) => Reflect.get(item, "text") ?? "?"));

test("follows the branch that Claude would resume, and leaves out what the user went back behind", async () => {
  const { sessions } = await folderWith(
    [user("1", null, "go"), said("2", "1", "left"), said("3", "1", "right"), user("4", "3", "on")].join(""),
  );
  expect(await textsOf(sessions)).toEqual([["?", "right"], ["?"]]);
});

test("reads what is intact of a damaged session, and a half-written end", async () => {
  const content = `${user("1", null, "go")}{"type": garbage\n[1]\n${said("2", "1", "yes")}{"type":"assis`;
  const { sessions } = await folderWith(content);
  const { turns, notes } = await sessions.read(ID);
  expect(turns).toHaveLength(1);
  expect(notes).toEqual(["2 lines of the session could not be read."]);
});

test("leaves out a line that is nested too deeply to be stored, and keys that steer objects", async () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const call = (input: string) =>
    line({ type: "assistant", uuid: "2", parentUuid: "1", message: { id: "2", content: "CALL" } }).replace(
      '"CALL"',
      `[{"type":"tool_use","id":"t","name":"mcp__x__y","input":{"__proto__":{"a":1},"b":${input}}}]`,
    );
  const { sessions } = await folderWith(`${user("1", null, "go")}${call(deep)}`);
  expect(await sessions.read(ID)).toMatchObject({
    turns: [{ items: [{ type: "userMessage" }] }],
    notes: ["1 line of the session could not be read."],
  });
  const { sessions: plain } = await folderWith(`${user("1", null, "go")}${call("1")}`);
  const [, item] = (await plain.read(ID)).turns[0]?.items ?? [];
  expect(JSON.stringify(item)).toContain('{"b":1}');
});

test("refuses a link, a folder and a file that is too large, and lists none of them that is no file", async () => {
  const { sessions, path, project, folder } = await folderWith(user("1", null, "go"));
  await truncate(path, 200 * 1024 * 1024);
  await expect(sessions.read(ID)).rejects.toThrow("too large");
  const other = ID.replace(/1$/, "2");
  await writeFile(join(folder, "secret.jsonl"), user("1", null, "secret"));
  await symlink(join(folder, "secret.jsonl"), join(project, `${other}.jsonl`));
  await mkdir(join(project, `${ID.replace(/1$/, "3")}.jsonl`));
  expect((await sessions.list(10)).map(({ id }) => id)).toEqual([ID]);
  await expect(sessions.read(other)).rejects.toThrow("has no session");
  await expect(sessions.read("../../secret")).rejects.toThrow("has no session");
});

test("is empty where Claude was never used", async () => {
  const { path } = await temporaryFolder();
  expect(await claudeSessions(path).list(5)).toEqual([]);
  expect(await readdir(path)).toEqual([]);
});

test("does not change a session that it reads", async () => {
  const { path, sessions } = await folderWith(user("1", null, "go"));
  await appendFile(path, said("2", "1", "yes"));
  const before = await readFile(path, "utf8");
  await sessions.read(ID);
  expect(await readFile(path, "utf8")).toBe(before);
});
