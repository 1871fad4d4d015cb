import { TurnTally } from "@flint/tui/draw";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OutputFormat } from "../options.ts";
import { ExecTerminal } from "./terminal.ts";

const isTerminal = process.stdout.isTTY;
const write = vi.spyOn(process.stdout, "write");
beforeEach(() => void write.mockReset().mockReturnValue(true));
afterEach(() => {
  process.stdout.isTTY = isTerminal;
});

/** Returns what a run in this format writes of an agent's text to standard output, other than its answer. */
function written(format: OutputFormat, text: string, onTerminal: boolean): string {
  process.stdout.isTTY = onTerminal;
  const terminal = new ExecTerminal({
    ...{ format, live: undefined, cwd: "/code", tally: new TurnTally(), how: undefined },
    ...{ answer: (given: string) => given, threadId: () => "t" },
    ...{ interrupt: () => undefined, outputLost: () => undefined },
  });
  const data = { threadId: "t", message: text, reason: "agent" };
  terminal.view.show({ type: "warning", data });
  terminal.view.end({ status: "completed", text, error: undefined, elapsedMs: 0, tokens: 0, files: 0 });
  terminal.close();
  return write.mock.calls.map(([given]) => String(given)).join("");
}

test.each(["json", "codex", "answer"] as const)(
  "as %s, text of an agent steers no terminal, and is exact for a program",
  (format) => {
    expect(written(format, "\u009b2J", true)).toContain("\\u{9b}2J");
    expect(written(format, "\u009b2J", false)).toContain("\u009b2J");
  },
);

test("an answer that is not what was asked for steers no terminal", () => {
  expect(written("answer", "\u001b]52;c;ZXZpbA==\u0007", true)).toBe("\\u{1b}]52;c;ZXZpbA==\\u{7}\n");
});
