import { expect, test } from "vitest";
import { TerminalOutput } from "./terminal-output.ts";

const ESC = "\u001b";
const frame = (body: string) => `${ESC}[?2026h${body}${ESC}[?2026l`;

function problemsOf(...writes: readonly string[]): readonly string[] {
  const output = new TerminalOutput();
  for (const write of writes) output.take(write);
  return output.problems;
}

test.each([
  ["erases the scrollback", frame(`${ESC}[3J`)],
  ["erases the screen", frame(`${ESC}[2J`)],
  ["captures the mouse", `${ESC}[?1002h`],
  ["sets a scroll region", frame(`${ESC}[2;9r`)],
  ["resets the terminal", `${ESC}c`],
  ["uses a control character of eight bits", frame("a\u009b3Jb")],
  ["sends a half sequence", frame(`a${ESC}[`)],
  ["asks for something unknown", `${ESC}]1337;File=x\u0007`],
  ["begins a frame in a frame", frame(frame("a"))],
  ["ends a frame that was not begun", `${ESC}[?2026l`],
  ["spreads a frame over two writes", `${ESC}[?2026ha`],
  ["leaves a link open", frame(`${ESC}]8;;https://example.org${ESC}\\a`)],
  ["links to what is not a page", frame(`${ESC}]8;;file:///etc/passwd${ESC}\\a${ESC}]8;;${ESC}\\`)],
])("a write that %s is found", (_, write) => {
  expect(problemsOf(write)).not.toEqual([]);
});

test("text and cursor moves outside of a frame are found once frames are drawn", () => {
  expect(problemsOf(frame("a"), "b", `${ESC}[2A`)).toEqual([
    'The session has written "b" outside of a frame.',
    "The session has written CSI 2A outside of a frame.",
  ]);
});

test("frames, queries, notices and plain lines are fine", () => {
  const link = `${ESC}]8;;https://example.org/?a=b;c${ESC}\\here${ESC}]8;;${ESC}\\`;
  const drawn = frame(
    `${ESC}[?25l\r${ESC}[2A${ESC}[1;32mé 日本 😀${ESC}[0m${ESC}[K\r\n${link}${ESC}[J${ESC}[?25h`,
  );
  expect(problemsOf(`${ESC}]11;?${ESC}\\`, drawn, "\u0007", `${ESC}]9;done\u0007`)).toEqual([]);
  expect(problemsOf("You: hi\r\n", "Agent: hello\r\n")).toEqual([]);
});

test("lists terminal modes that are still enabled", () => {
  const output = new TerminalOutput();
  output.take(`${ESC}[22;2t${ESC}[?2004h${ESC}[?1004h${ESC}[>1u`);
  output.take(frame(`${ESC}[?1049h${ESC}[?25l`));
  expect(output.left).toEqual([
    ...["bracketed paste", "focus reports", "the alternate screen", "a hidden cursor"],
    ...["the keyboard protocol", "the title of the session"],
  ]);
  output.take(`${frame(`${ESC}[?1049l${ESC}[?25h`)}${ESC}[<u${ESC}[?1004l${ESC}[?2004l${ESC}[23;2t`);
  expect(output.left).toEqual([]);
});
