import type { ThreadItem } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { expect, test } from "vitest";
import { PlainView } from "./plain.ts";

const place = { threadId: "thread", turnId: "turn" };

function shown(events: readonly AgentEvent[]): string {
  let text = "";
  const screen = new PlainView((piece) => {
    text += piece;
  });
  for (const event of events) screen.show(event);
  return text;
}

const started = (item: ThreadItem): AgentEvent => ({ type: "item/started", data: { ...place, item } });
const completed = (item: ThreadItem): AgentEvent => ({ type: "item/completed", data: { ...place, item } });
const said = (itemId: string, delta: string): AgentEvent => ({
  type: "item/agentMessage/delta",
  data: { ...place, itemId, delta, offset: 0 },
});

test("prints a command as it would be typed, with its output and exit code", () => {
  const command = { type: "commandExecution", id: "c", command: "make", cwd: "/" } as const;
  const output: AgentEvent = {
    type: "item/commandExecution/outputDelta",
    data: { ...place, itemId: "c", delta: "built", offset: 0 },
  };
  const events = [
    started({ ...command, status: "inProgress" }),
    output,
    completed({ ...command, status: "completed", exitCode: 0 }),
  ];
  expect(shown(events)).toBe("$ make\nbuilt\n(exit 0)\n");
});

test("prints output that was not streamed", () => {
  const command = { type: "commandExecution", id: "c", command: "make", cwd: "/" } as const;
  const end = { status: "completed", exitCode: 2, aggregatedOutput: "no rule" } as const;
  const events = [started({ ...command, status: "inProgress" }), completed({ ...command, ...end })];
  expect(shown(events)).toBe("$ make\nno rule\n(exit 2)\n");
});

test("prints the rest of an output that was streamed in part, as of a fast command", () => {
  const command = { type: "commandExecution", id: "c", command: "make", cwd: "/" } as const;
  const end = { status: "completed", exitCode: 0, aggregatedOutput: "one\ntwo\n" } as const;
  const output: AgentEvent = {
    type: "item/commandExecution/outputDelta",
    data: { ...place, itemId: "c", delta: "one\n", offset: 0 },
  };
  const events = [started({ ...command, status: "inProgress" }), output, completed({ ...command, ...end })];
  expect(shown(events)).toBe("$ make\none\ntwo\n(exit 0)\n");
});

test("ends with the number of tool calls that failed", () => {
  let text = "";
  const view = new PlainView((piece) => {
    text += piece;
  });
  view.end({ status: "completed", failedCalls: 2 });
  expect(text).toBe("(2 tool calls failed)\n");
});

test("escapes a no-break space in a command, and prints the size of omitted output", () => {
  const command = { type: "commandExecution", id: "c", command: "rm\u00a0x", cwd: "/" } as const;
  const end = { status: "completed", exitCode: 0, omittedOutputBytes: 3 * 1024 * 1024 } as const;
  const events = [started({ ...command, status: "inProgress" }), completed({ ...command, ...end })];
  expect(shown(events)).toBe("$ rm\\u{a0}x\n... 3.0 MiB omitted\n(exit 0)\n");
});

test("prints a message once, streamed or not", () => {
  const message = { type: "agentMessage", id: "m", text: "hello" } as const;
  expect(shown([said("m", "hel"), said("m", "lo"), completed(message)])).toBe("hello\n");
  expect(shown([completed(message)])).toBe("hello\n");
});

test("prints a file change with its diff", () => {
  const changes = [{ path: "/a", kind: "add", diff: "+a" }] as const;
  const item = { type: "fileChange", id: "f", status: "completed", changes: [...changes] } as const;
  expect(shown([completed(item)])).toBe("add /a (completed)\n+a\n");
});

test("prints an item of an unknown type with its id and text [S0-88, S0-89]", () => {
  const item = { type: "hologram", id: "h-1", text: "a cube" };
  const line = shown([started(item)]);
  expect(line).toContain("hologram");
  expect(line).toContain("h-1");
});

test("escapes control sequences from an agent", () => {
  expect(shown([said("m", "\u001b[2Jgone")])).toBe("\\u{1b}[2Jgone");
});
