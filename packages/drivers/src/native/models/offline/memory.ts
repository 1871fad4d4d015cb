import { previewOf } from "@flint/protocol";
import type { Message } from "../model.ts";

const REMEMBERED = 20;

/** What the user asked before, in words. */
export function recall(messages: readonly Message[]): string {
  const asked = userTexts(messages).slice(0, -1);
  const summaries = messages.filter((message) => message.role === "system" && isSummary(message.text));
  if (asked.length + summaries.length === 0) return "This is the first thing you ask me in this thread.";
  const listed = asked.slice(-REMEMBERED).map((text, index) => `${index + 1}. ${previewOf(text)}`);
  const parts = [
    ...summaries.map(({ text }) => text),
    ...(listed.length === 0 ? [] : [`You asked me:\n${listed.join("\n")}`]),
  ];
  return parts.join("\n\n");
}

const BEGINNING = "Summary of the conversation so far.";

/** A conversation in a few lines: what was asked, what was run, what was said last. */
export function summarise(messages: readonly Message[]): string {
  const earlier = messages.filter((message) => message.role === "system" && isSummary(message.text));
  const asked = userTexts(messages)
    .slice(-REMEMBERED)
    .map((text) => `- ${previewOf(text)}`);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const commands = calls.flatMap(({ input }) =>
    typeof input.command === "string" ? [`- ${previewOf(input.command)}`] : [],
  );
  const last = messages.findLast((message) => message.role === "assistant" && message.text !== "");
  return [
    BEGINNING,
    ...earlier.map(({ text }) => text.slice(BEGINNING.length).trim()).filter(Boolean),
    ...(asked.length === 0 ? [] : ["The user asked:", ...asked]),
    ...(commands.length === 0 ? [] : ["Commands that were run:", ...commands.slice(-REMEMBERED)]),
    ...(last === undefined ? [] : [`The last answer began: ${previewOf(last.text)}`]),
  ].join("\n");
}

function isSummary(text: string): boolean {
  return text.startsWith(BEGINNING);
}

function userTexts(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "user" ? [message.text] : []));
}
