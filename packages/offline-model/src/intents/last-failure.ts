import type { Message } from "@flint/agent/model";
import { fenced } from "./reports.ts";

/** How a line looks that tells of a failure, over many tools. */
const FAILING = /\b(?:fail(?:ed|ure|s|ing)?|error|exception|assert\w*|panicked|not ok|traceback)\b|✗|✖|×/i;
/** Lines that only count failures come last and say nothing about any of them. */
const SUMMARY_LINE = /^\W*(?:tests?|# ?fail|test (?:files|suites)|failures?|errors?)\W*:?\s*\d+/i;
const SHOWN_LINES = 10;

/** The beginning of the first failure in the last command of the thread that failed; undefined if none did. */
export function describeLastFailure(messages: readonly Message[]): string | undefined {
  const result = messages.findLast((message) => message.role === "tool" && isFailedRun(message));
  if (result?.role !== "tool") return undefined;
  const command = commandOf(result.callId, messages);
  const lines = result.text.trimEnd().split("\n");
  const first = lines.findIndex((line) => FAILING.test(line) && !SUMMARY_LINE.test(line));
  const shown = first === -1 ? lines.slice(-SHOWN_LINES) : lines.slice(first, first + SHOWN_LINES);
  return [
    `The last command that failed is \`${command}\` (exit code ${result.exitCode}). I would look at this first:`,
    fenced(shown.join("\n")),
  ].join("\n\n");
}

function isFailedRun({ exitCode }: Extract<Message, { role: "tool" }>): boolean {
  return exitCode !== undefined && exitCode !== 0;
}

function commandOf(callId: string, messages: readonly Message[]): string {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const command = calls.findLast((call) => call.callId === callId)?.input.command;
  return typeof command === "string" ? command : "a command";
}
