import type { ThreadItem } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { expect, test } from "vitest";
import { ExecScreen } from "./plain.ts";

const place = { threadId: "thread", turnId: "turn" };

function shown(events: readonly AgentEvent[]): string {
  let text = "";
  const screen = new ExecScreen((piece) => {
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

test("a command is shown as it would be typed, with its output and exit code", () => {
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

test("a space that only looks like one is shown by its number, and output that was left out by its size", () => {
  const command = { type: "commandExecution", id: "c", command: "rm\u00a0x", cwd: "/" } as const;
  const end = { status: "completed", exitCode: 0, omittedOutputBytes: 3 * 1024 * 1024 } as const;
  const events = [started({ ...command, status: "inProgress" }), completed({ ...command, ...end })];
  expect(shown(events)).toBe("$ rm\\u{a0}x\n... 3.0 MiB left out\n(exit 0)\n");
});

test("text is shown once, streamed or not", () => {
  const message = { type: "agentMessage", id: "m", text: "hello" } as const;
  expect(shown([said("m", "hel"), said("m", "lo"), completed(message)])).toBe("hello\n");
  expect(shown([completed(message)])).toBe("hello\n");
});

test("a file change is shown with its diff", () => {
  const changes = [{ path: "/a", kind: "add", diff: "+a" }] as const;
  const item = { type: "fileChange", id: "f", status: "completed", changes: [...changes] } as const;
  expect(shown([completed(item)])).toBe("add /a (completed)\n+a\n");
});

test("an item of an unknown type is shown as a generic call, with its id and any text [S0-88, S0-89]", () => {
  const item = { type: "hologram", id: "h-1", text: "a cube" };
  const line = shown([started(item)]);
  expect(line).toContain("hologram");
  expect(line).toContain("h-1");
});

test("escape sequences of an agent are shown, not obeyed", () => {
  expect(shown([said("m", "\u001b[2Jgone")])).toBe("\\u{1b}[2Jgone");
});
