import type { Message, ModelPart, ModelRequest, ToolResult } from "@flint/agent/model";
import { formatAsJson } from "../json-sample.ts";
import { summarize } from "./memory.ts";
import { isJson, replyTo, splitInput } from "./rules.ts";
import { advance, NoToolError, type Progress, Toolbox } from "./task.ts";
import { review } from "./work.ts";

const THINK = /^(?:please )?think\b(?: about)?,?(?: and)?(?: then)?:?\s*([\s\S]*)$/i;

/** One request of the user that has no answer yet, and the results of the work on it so far. */
interface OpenRequest {
  readonly index: number;
  readonly text: string;
  readonly results: readonly ToolResult[];
}

/** The parts of the next response. Pure: the conversation alone decides. */
export function* respond(request: ModelRequest): Iterable<ModelPart> {
  const { messages, purpose } = request;
  if (purpose === "compact") return yield* streamText(summarize(messages));
  const start =
    1 + messages.findLastIndex((message) => message.role === "assistant" && message.calls.length === 0);
  const answers: string[] = [];
  for (const open of openRequests(messages.slice(start))) {
    const about = THINK.exec(open.text)?.[1];
    const progress = progressOf({ ...open, text: about ?? open.text }, request);
    if (about !== undefined && open.results.length === 0)
      yield* streamText(`The user wants me to think about ${about || "nothing"}.`, "reasoning-delta");
    if ("calls" in progress) {
      for (const [index, use] of progress.calls.entries()) {
        const callId = `call_${start}_${open.index}_${progress.callsBefore + index}`;
        yield { type: "tool-call", callId, ...use };
      }
      return;
    }
    answers.push(progress.answer);
  }
  yield* answerParts(answers, request);
}

/** A text word by word, as a real model streams it. */
export function* streamText(
  text: string,
  type: "text-delta" | "reasoning-delta" = "text-delta",
): Iterable<ModelPart> {
  for (const [word] of text.matchAll(/\s*\S+\s*|\s+/g)) yield { type, text: word };
}

/** The request that began the turn, and those that were added while it ran. */
function openRequests(messages: readonly Message[]): OpenRequest[] {
  const results = messages.filter((message) => message.role === "tool");
  return messages
    .filter((message) => message.role === "user")
    .map(({ text }, index) => ({ index, text, results: resultsFor(index, results) }));
}

/** In the order of the calls. What a summary of the conversation removed counts as done, so nothing is done twice. */
function resultsFor(index: number, results: readonly Extract<Message, { role: "tool" }>[]): ToolResult[] {
  const ordered: ToolResult[] = [];
  for (const result of results) {
    const [, request, call] = /^call_\d+_(\d+)_(\d{1,4})(?:_\w+)?$/.exec(result.callId) ?? [];
    if (Number(request) === index) ordered[Number(call)] = result;
  }
  return Array.from(ordered, (result) => result ?? { status: "done", text: "" });
}

function progressOf({ index, text, results }: OpenRequest, request: ModelRequest): Progress {
  const isReview = request.purpose === "review" && index === 0;
  // Expected: the work needs a tool that the request does not offer.
  try {
    const reply = isReview ? review : replyTo(text);
    return advance(reply({ request, tools: new Toolbox(request.tools) }), results);
  } catch (error) {
    if (!(error instanceof NoToolError)) throw error;
    return { answer: `I would ${error.message}, but I was given no tool for that.` };
  }
}

/** All answers, as one text or as the JSON that was asked for. */
function* answerParts(
  answers: readonly string[],
  { messages, outputSchema }: ModelRequest,
): Iterable<ModelPart> {
  const text = answers.join("\n\n");
  const { prompt } = splitInput(messages.findLast(({ role }) => role === "user")?.text ?? "");
  const wantsJson = outputSchema !== undefined || (/\b(?:as|in) json\b/i.test(prompt) && !isJson(text));
  yield* streamText(wantsJson ? formatAsJson(text, outputSchema) : text);
}
