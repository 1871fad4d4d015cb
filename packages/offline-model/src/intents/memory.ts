import { SUMMARY_BEGINNING } from "@flint/agent/conversation";
import type { Message } from "@flint/agent/model";
import { previewOf } from "@flint/protocol";

const REMEMBERED = 20;

/** What the user asked before, in words. */
export function recall(messages: readonly Message[]): string {
  const asked = userTexts(messages).slice(0, -1);
  const summaries = summariesIn(messages);
  if (asked.length + summaries.length === 0) return "This is the first thing you ask me in this thread.";
  const listed = asked.slice(-REMEMBERED).map((text, index) => `${index + 1}. ${previewOf(text)}`);
  const parts = [...summaries, ...(listed.length === 0 ? [] : [`You asked me:\n${listed.join("\n")}`])];
  return parts.join("\n\n");
}

/** A conversation in a few lines: what was asked, what was run, what was said last. */
export function summarise(messages: readonly Message[]): string {
  const earlier = summariesIn(messages);
  const asked = userTexts(messages)
    .slice(-REMEMBERED)
    .map((text) => `- ${previewOf(text)}`);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const commands = calls.flatMap(({ input }) =>
    typeof input.command === "string" ? [`- ${previewOf(input.command)}`] : [],
  );
  const last = messages.findLast((message) => message.role === "assistant" && message.text !== "");
  return [
    SUMMARY_BEGINNING,
    ...earlier.map((text) => text.slice(SUMMARY_BEGINNING.length).trim()).filter(Boolean),
    ...(asked.length === 0 ? [] : ["The user asked:", ...asked]),
    ...(commands.length === 0 ? [] : ["Commands that were run:", ...commands.slice(-REMEMBERED)]),
    ...(last === undefined ? [] : [`The last answer began: ${previewOf(last.text)}`]),
  ].join("\n");
}

/** The same for the user who asks for it, who may ask before anything was said. */
export function summariseForUser(messages: readonly Message[]): string {
  const isNew = userTexts(messages).length + summariesIn(messages).length === 0;
  return isNew ? "This thread has just begun, so there is nothing to sum up yet." : summarise(messages);
}

/** The summaries that stand for what came before, without what may have been put around them. */
function summariesIn(messages: readonly Message[]): string[] {
  return messages.flatMap(({ role, text }) => {
    const start = role === "system" ? text.indexOf(SUMMARY_BEGINNING) : -1;
    return start === -1 ? [] : [text.slice(start)];
  });
}

function userTexts(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "user" ? [message.text] : []));
}
