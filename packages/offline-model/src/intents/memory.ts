import { SUMMARY_HEADING } from "@flint/agent/conversation";
import type { Message } from "@flint/agent/model";
import { previewOf } from "@flint/protocol";

const MAX_LINES = 20;

/** Lists what the user asked before in this thread. */
export function recall(messages: readonly Message[]): string {
  const asked = userTexts(messages).slice(0, -1);
  const summaries = summariesIn(messages);
  if (asked.length + summaries.length === 0) return "This is the first thing you ask me in this thread.";
  const lines = asked.slice(-MAX_LINES).map((text, index) => `${index + 1}. ${previewOf(text)}`);
  return [...summaries, ...(lines.length === 0 ? [] : [`You asked me:\n${lines.join("\n")}`])].join("\n\n");
}

/** Summarizes a conversation: what was asked, what was run, what was answered last. */
export function summarize(messages: readonly Message[]): string {
  const earlier = summariesIn(messages).map((text) => text.slice(SUMMARY_HEADING.length).trim());
  const asked = userTexts(messages).map((text) => `- ${previewOf(text)}`);
  const commands = messages
    .flatMap((message) => (message.role === "assistant" ? message.calls : []))
    .flatMap(({ input }) => (typeof input.command === "string" ? [`- ${previewOf(input.command)}`] : []));
  const last = messages.findLast((message) => message.role === "assistant" && message.text !== "");
  return [
    SUMMARY_HEADING,
    ...earlier.filter(Boolean),
    ...(asked.length === 0 ? [] : ["The user asked:", ...asked.slice(-MAX_LINES)]),
    ...(commands.length === 0 ? [] : ["Commands that were run:", ...commands.slice(-MAX_LINES)]),
    ...(last === undefined ? [] : [`The last answer began: ${previewOf(last.text)}`]),
  ].join("\n");
}

/** The same for a user who asks for it, perhaps before anything was said. */
export function summarizeForUser(messages: readonly Message[]): string {
  const isNew = userTexts(messages).length + summariesIn(messages).length === 0;
  return isNew ? "This thread has just begun, so there is nothing to summarize yet." : summarize(messages);
}

/** The summaries of earlier messages, without what may have been put before them. */
function summariesIn(messages: readonly Message[]): string[] {
  return messages.flatMap(({ role, text }) => {
    const start = role === "system" ? text.indexOf(SUMMARY_HEADING) : -1;
    return start === -1 ? [] : [text.slice(start)];
  });
}

function userTexts(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "user" ? [message.text] : []));
}
