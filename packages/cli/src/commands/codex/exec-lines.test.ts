import { readFileSync } from "node:fs";
import type { TurnError } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { expectGolden } from "@flint/testkit";
import { expect, test } from "vitest";
import type { ExecLine } from "./exec-items.ts";
import { initialLines, stepLines } from "./exec-lines.ts";

const FIXTURES = new URL("./fixtures/", import.meta.url);

function linesOf(events: readonly AgentEvent[], answer?: (text: string) => string): ExecLine[] {
  let state = initialLines(answer);
  return events.flatMap((event) => {
    const step = stepLines(state, event);
    state = step.state;
    return step.lines;
  });
}

const ofTurn = { threadId: "t1", turnId: "u1" };

function ended(status: "completed" | "failed" | "interrupted", error?: TurnError): AgentEvent {
  const turn = { id: "u1", status, items: [], ...(error === undefined ? {} : { error }) };
  return { type: "turn/completed", data: { threadId: "t1", turn } };
}

function problem(message: string, willRetry: boolean): AgentEvent {
  return { type: "error", data: { ...ofTurn, error: { message }, willRetry } };
}

test("prints every item type as codex exec does, and skips what Codex does not print", () => {
  const text = readFileSync(new URL("every-item.events.jsonl", FIXTURES), "utf8");
  // Written down for this test, as the SDK would have read them.
  const events = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AgentEvent]));
  expectGolden(new URL("every-item.lines.jsonl", FIXTURES), linesOf(events));
});

test("prints a failed turn as an error and then its end", () => {
  const lines = linesOf([ended("failed", { message: "No lamp.", additionalDetails: "none at all" })]);
  expect(lines).toEqual([
    { type: "error", message: "No lamp. (none at all)" },
    { type: "turn.failed", error: { message: "No lamp. (none at all)" } },
  ]);
});

test("does not repeat an error when the turn fails with it", () => {
  const lines = linesOf([
    problem("Busy.", true),
    problem("No lamp.", false),
    ended("failed", { message: "No lamp." }),
  ]);
  expect(lines).toEqual([
    { type: "error", message: "Busy." },
    { type: "error", message: "No lamp." },
    { type: "turn.failed", error: { message: "No lamp." } },
  ]);
});

test("prints the latest error for a turn that fails without one", () => {
  expect(linesOf([problem("Busy.", true), ended("failed")]).at(-1)).toEqual({
    type: "turn.failed",
    error: { message: "Busy." },
  });
  expect(linesOf([ended("failed")]).at(-1)).toEqual({
    type: "turn.failed",
    error: { message: "The agent gave no reason." },
  });
});

test("does not print an interrupted turn as completed", () => {
  expect(linesOf([ended("interrupted")])).toEqual([
    { type: "turn.failed", error: { message: "The turn was interrupted." } },
  ]);
});

test("prints no usage for a turn without usage", () => {
  const usage = {
    input_tokens: 0,
    cached_input_tokens: 0,
    cache_write_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
  };
  expect(linesOf([ended("completed")])).toEqual([{ type: "turn.completed", usage }]);
});

test("completes open items before the turn", () => {
  const command = { type: "commandExecution", id: "i1", command: "sleep", cwd: "/w" } as const;
  const started = { ...command, status: "inProgress" } as const;
  const failed = { ...command, status: "failed" } as const;
  const turn = { id: "u1", status: "completed", items: [failed] } as const;
  const lines = linesOf([
    { type: "item/started", data: { ...ofTurn, item: started } },
    { type: "turn/completed", data: { threadId: "t1", turn: { ...turn, items: [failed] } } },
  ]);
  expect(lines.map(({ type }) => type)).toEqual(["item.started", "item.completed", "turn.completed"]);
  expect(lines[1]).toMatchObject({ item: { id: "item_0", status: "failed" } });
});

test("prints an answer with a schema without its code fence", () => {
  const item = { type: "agentMessage", id: "i1", text: "```json\n{}\n```" } as const;
  const lines = linesOf([{ type: "item/completed", data: { ...ofTurn, item } }], () => "{}");
  expect(lines).toEqual([
    { type: "item.completed", item: { id: "item_0", type: "agent_message", text: "{}" } },
  ]);
});
