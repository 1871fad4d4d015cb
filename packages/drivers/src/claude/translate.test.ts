import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DriverEvent } from "@flint/core/ports";
import { blocksOf, type ClaudeFrame, decodeClaudeFrame } from "@flint/protocol/claude";
import { expectGolden, lifecycleFaults, needs, RecordingTurn, streamFaults } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { type FixtureFolders, realClaude } from "./testing/claude-fixture.ts";
import { recordedFrames } from "./testing/recorded-frames.ts";
import { concernsFiles } from "./translate/file-changes.ts";
import { beginTurn, type FileChanges, type TranslateState } from "./translate/state.ts";
import { step } from "./translate.ts";

const FIXTURES = new URL("./fixtures/", import.meta.url);
const CHANGES = [{ path: "notes.txt", kind: "modify" as const, diff: "--- a/notes.txt\n+++ b/notes.txt\n" }];

const call = (name: string, input: object) => ({ call: name, input });
const DONE = [{ text: "Done." }];
const notes = ({ workspace }: FixtureFolders) => join(workspace, "notes.txt");

/** Scripts of the model at the time the frames were recorded. */
const SCRIPTS: Readonly<Record<string, (folders: FixtureFolders) => readonly unknown[]>> = {
  text: () => [[{ reasoning: "It is a greeting." }, { text: "Good morning to you." }]],
  commands: () => [
    [call("Bash", { command: "echo out; echo err >&2; exit 3" })],
    [call("Bash", { command: "echo fine" }), call("Read", { file_path: "/etc/hostname-that-is-not-there" })],
    DONE,
  ],
  files: (folders) => [
    [call("Write", { file_path: notes(folders), content: "one\ntwo\n" })],
    [call("Edit", { file_path: notes(folders), old_string: "two", new_string: "three" })],
    [call("Edit", { file_path: notes(folders), old_string: "not there", new_string: "x" })],
    DONE,
  ],
  tasks: () => [
    [call("TaskCreate", { subject: "Look", description: "around" })],
    [call("TaskUpdate", { taskId: "1", status: "in_progress" })],
    DONE,
  ],
  "sub-agent": () => [
    {
      when: "go",
      parts: [call("Task", { description: "sub", prompt: "greet it", subagent_type: "claude" })],
    },
    { when: "greet it", parts: [call("Bash", { command: "echo greeted" })] },
    [{ text: "It is greeted." }],
    DONE,
  ],
  refused: () => [[{ error: { status: 400, message: "The lamp does not fit." } }]],
  overloaded: () => [[{ error: { status: 529, message: "Too many lamps." } }], DONE],
  "broken-off": () => [[{ text: "Half of a" }, { cut: true }], DONE],
  interrupted: () => [[{ text: "Once upon a time " }, { delay: 20_000 }, { text: "there was." }]],
};

describe("recorded from Claude 2.1.197", () => {
  const names = readdirSync(FIXTURES).flatMap((file) => /^(.*)\.frames\.jsonl$/.exec(file)?.[1] ?? []);
  test.each(names)(
    "[S3-50] [S3-53] [S3-55] [S3-57] [S3-58] [S3-59] [S4-8] [S4-15] [S4-16] translates %s to the recorded events",
    (name) => {
      const events = translate(framesOf(name));
      expectGolden(new URL(`${name}.events.jsonl`, FIXTURES), events);
      expect(lifecycleFaults(events, name !== "interrupted")).toEqual([]);
      expect(streamFaults(events)).toEqual([]);
    },
  );
});

test("hides Claude's message to its model about a stopped command", () => {
  const content = "The user doesn't want to proceed with this tool use. STOP what you are doing.";
  const used = { type: "tool_use", id: "t", name: "Bash", input: { command: "sleep 9" } };
  const result = { type: "tool_result", tool_use_id: "t", content, is_error: true };
  const frames = [
    { type: "assistant", message: { role: "assistant", content: [used] } },
    { type: "user", message: { role: "user", content: [result] }, tool_use_result: "User rejected tool use" },
  ];
  const events = translate(frames.map((frame) => decoded(JSON.stringify(frame))));
  expect(events.at(-1)).toMatchObject({
    type: "item/completed",
    item: { command: "sleep 9", status: "failed" },
  });
  expect(JSON.stringify(events)).not.toContain("proceed");
});

// `FLINT_RECORD=1` records the frames of the real Claude again.
if (process.env.FLINT_RECORD === "1") {
  for (const [name, script] of Object.entries(SCRIPTS))
    needs("claude")(`record ${name}`, () => record(name, script));
}

async function record(name: string, script: (folders: FixtureFolders) => readonly unknown[]): Promise<void> {
  const fixture = await realClaude({ script });
  const turn = new RecordingTurn({ text: "go", settings: fixture.settings });
  const ended = (await fixture.open()).run(turn);
  if (name === "interrupted") {
    await turn.waitFor((event) => event.type === "item/agentMessage/delta");
    turn.stop();
  }
  await ended;
  const frames = recordedFrames(fixture.lines, fixture.workspace);
  const file = new URL(`${name}.frames.jsonl`, FIXTURES);
  writeFileSync(file, frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
}

function framesOf(name: string): ClaudeFrame[] {
  const lines = readFileSync(new URL(`${name}.frames.jsonl`, FIXTURES), "utf8")
    .trim()
    .split("\n");
  return lines.map(decoded);
}

function decoded(line: string): ClaudeFrame {
  const read = decodeClaudeFrame(line);
  if (!read.ok) throw new Error(`${line}: ${read.reason}`);
  return read.frame;
}

function translate(frames: readonly ClaudeFrame[]): DriverEvent[] {
  let state = beginTurn("turn", "/workspace");
  return frames.flatMap((frame) => {
    const [next, events] = step(state, frame, changesIn(frame, state));
    state = next;
    return [...events];
  });
}

/** The same changes for every use of a file tool; how they are found has tests of its own. */
function changesIn(frame: ClaudeFrame, state: TranslateState): FileChanges {
  if ((frame.type !== "assistant" && frame.type !== "user") || !concernsFiles(frame, state.tools))
    return new Map();
  const ids = blocksOf(frame.message).flatMap((block) => block.id ?? block.tool_use_id ?? []);
  return new Map(ids.map((id) => [id, CHANGES]));
}
