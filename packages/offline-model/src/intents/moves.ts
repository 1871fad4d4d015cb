import type { Message, ModelRequest, ToolResult } from "@flint/agent/model";
import { type Answer, advance, type Stand } from "./flow.ts";
import { flowOf, review } from "./flows.ts";
import { answerAsJson } from "./json-answer.ts";
import { summarise } from "./memory.ts";
import type { Move } from "./move.ts";
import { splitRequest } from "./piped-input.ts";
import { NoToolError, Toolbox } from "./toolbox.ts";
import { intentOf } from "./understand.ts";

/** One request of the user, and what came of the work on it so far. */
interface Task {
  readonly index: number;
  readonly text: string;
  readonly results: readonly ToolResult[];
}

/** What the offline model does in this step. Pure: the conversation alone decides. */
export function nextMoves(request: ModelRequest): readonly Move[] {
  if (request.purpose === "compact") return [{ type: "text", text: summarise(request.messages) }];
  const begun = beginningOf(request.messages);
  const answers: Answer[] = [];
  for (const task of tasksOf(request.messages.slice(begun))) {
    const stand = standOf(task, request);
    if ("step" in stand) return stepMoves(stand, `call_${begun}_${task.index}_`);
    answers.push(stand.answer);
  }
  return finalMoves(answers, request);
}

/** Where the work begins that has no answer yet. */
function beginningOf(messages: readonly Message[]): number {
  return 1 + messages.findLastIndex((message) => message.role === "assistant" && message.calls.length === 0);
}

/** The requests that have no answer yet: the one that began the turn, and those that were added while it ran. */
function tasksOf(open: readonly Message[]): Task[] {
  const results = open.filter((message) => message.role === "tool");
  return open
    .filter((message) => message.role === "user")
    .map(({ text }, index) => ({ index, text, results: resultsOf(index, results) }));
}

/** In the order of the calls. What a summary of the conversation took away counts as done, so nothing is done twice. */
function resultsOf(index: number, results: readonly Extract<Message, { role: "tool" }>[]): ToolResult[] {
  const ordered: ToolResult[] = [];
  for (const result of results) {
    const [, task, number] = /^call_\d+_(\d+)_(\d{1,4})(?:_\w+)?$/.exec(result.callId) ?? [];
    if (Number(task) === index) ordered[Number(number)] = result;
  }
  return Array.from(ordered, (result) => result ?? { status: "done", text: "" });
}

function standOf(task: Task, request: ModelRequest): Stand {
  // Expected: the work needs a tool that is not there. Any other failure is the model's own.
  try {
    const isReview = request.purpose === "review" && task.index === 0;
    const flow = isReview
      ? review(request, new Toolbox(request.tools))
      : flowOf(intentOf(task.text), request);
    return advance(flow, task.results);
  } catch (error) {
    if (!(error instanceof NoToolError)) throw error;
    return { answer: { text: `I would ${error.message}, but I was given no tool for that.` } };
  }
}

function stepMoves({ step, calls }: Extract<Stand, { step: unknown }>, prefix: string): Move[] {
  return [
    ...(step.think === undefined ? [] : [{ type: "reasoning", text: step.think } as const]),
    ...(step.say === undefined ? [] : [{ type: "text", text: step.say } as const]),
    ...step.wishes.map(
      (wish, index) => ({ type: "tool-call", callId: `${prefix}${calls + index}`, ...wish }) as const,
    ),
  ];
}

/** The answers to all tasks, as one text or as the JSON that was asked for. */
function finalMoves(answers: readonly Answer[], request: ModelRequest): Move[] {
  const thoughts = answers.flatMap(({ think }) => (think === undefined ? [] : [think]));
  return [...thoughts.map((text) => ({ type: "reasoning", text }) as const), ...spoken(answers, request)];
}

function spoken(answers: readonly Answer[], request: ModelRequest): Move[] {
  const asked = splitRequest(
    request.messages.findLast((message) => message.role === "user")?.text ?? "",
  ).words;
  const wantsJson = request.outputSchema !== undefined || /\b(?:as|in) json\b/i.test(asked);
  const isJson = answers.length === 1 && answers[0]?.isJson === true && request.outputSchema === undefined;
  if (wantsJson && !isJson) {
    const text = answers.map((answer) => answer.text).join("\n\n");
    return [{ type: "text", text: answerAsJson(text, request.outputSchema) }];
  }
  return answers.flatMap(({ text, countTo }, index): Move[] => [
    { type: "text", text: index === 0 ? text : `\n\n${text}` },
    ...(countTo === undefined ? [] : [{ type: "count", to: countTo } as const]),
  ]);
}
