import { FlintError, type PlanEntry } from "@flint/protocol";
import type { Message, ModelRequest, ToolResult } from "../model.ts";
import { describeChanges, reviewCommands } from "./changes.ts";
import { type Intent, intentOf, type PlanStep, type Work } from "./intent.ts";
import { answerAsJson } from "./json-answer.ts";
import { recall, summarise } from "./memory.ts";
import type { Move } from "./move.ts";
import { describeListing, describeRun, describeWrite } from "./reports.ts";

const LIST_COMMAND = "ls -Ap";

const ABILITIES = [
  "I am Flint's offline model: I follow fixed rules and understand only a few requests.",
  'Try "what is in this folder?", "run `date`", "write `hello` to hello.txt", "plan to list files and run `date`",',
  '"ask me which colour: red or blue", "think about this folder" or "what did I ask before?".',
  "For anything else, choose another model.",
].join(" ");

/** One request of the user, and what came of the work on it so far. */
interface Task {
  readonly index: number;
  readonly text: string;
  readonly results: readonly ToolResult[];
}

/** What a task needs next: more work, or this answer. */
type Next = { readonly work: readonly Move[] } | { readonly before?: readonly Move[]; readonly answer: Move };

/** What the offline model does in this step. Pure: the conversation alone decides. */
export function nextMoves(request: ModelRequest): readonly Move[] {
  if (request.purpose === "compact") return [{ type: "text", text: summarise(request.messages) }];
  const answers: Move[] = [];
  const before: Move[] = [];
  for (const task of tasksOf(request.messages)) {
    const next =
      request.purpose === "review" && task.index === 0 ? review(task, request) : nextOf(task, request);
    if ("work" in next) return next.work;
    before.push(...(next.before ?? []));
    answers.push(next.answer);
  }
  return [...before, ...finalAnswer(answers, request)];
}

/** The requests that have no answer yet: the one that began the turn, and those that were added while it ran. */
function tasksOf(messages: readonly Message[]): Task[] {
  const finished = messages.findLastIndex(
    (message) => message.role === "assistant" && message.calls.length === 0,
  );
  const open = messages.slice(finished + 1);
  const results = open.filter((message) => message.role === "tool");
  return open
    .filter((message) => message.role === "user")
    .map(({ text }, index) => ({
      index,
      text,
      results: results.filter(({ callId }) => callId.startsWith(`call-${index}-`)),
    }));
}

function nextOf(task: Task, request: ModelRequest): Next {
  return nextFor(intentOf(task.text), task, request);
}

function nextFor(intent: Intent, task: Task, request: ModelRequest): Next {
  switch (intent.kind) {
    case "list":
    case "run":
    case "write":
      return doOnce(intent, task);
    case "plan":
      return workPlan(intent.steps, task);
    case "ask":
      return ask(intent, task);
    case "think":
      return think(intent, task, request);
    case "count":
      return { answer: { type: "count", to: intent.to } };
    case "recall":
      return say(recall(request.messages));
    case "fail":
      throw new FlintError("agentFailed", `The offline model failed: ${intent.message}`);
    case "other":
      return say(ABILITIES);
  }
}

function doOnce(intent: Work, task: Task): Next {
  const [result] = task.results;
  return result === undefined ? { work: [call(intent, task)] } : say(report(intent, result));
}

/** One call of the task; the number of results tells how many there were before. */
function call(intent: Work, { index, results }: Task): Move {
  const callId = `call-${index}-${results.length}`;
  if (intent.kind === "write") {
    return {
      type: "tool-call",
      callId,
      tool: "write_file",
      input: { path: intent.path, content: intent.content },
    };
  }
  const command = intent.kind === "list" ? LIST_COMMAND : intent.command;
  return { type: "tool-call", callId, tool: "shell", input: { command } };
}

function report(intent: Work, result: ToolResult): string {
  switch (intent.kind) {
    case "list":
      return describeListing(result);
    case "run":
      return describeRun(intent.command, result);
    case "write":
      return describeWrite(intent.path, result);
  }
}

function workPlan(steps: readonly PlanStep[], task: Task): Next {
  const { results } = task;
  const entries = steps.map(({ title }, index) => ({ step: title, status: stepStatus(index, results) }));
  const explanation = `${Math.min(results.length, steps.length)} of ${steps.length} steps done.`;
  const plan: Move = { type: "plan", explanation, entries };
  const next = steps[results.length];
  if (next !== undefined) return { work: [plan, call(next.work, task)] };
  const reports = steps.map(({ work, title }, index) => {
    const result = results[index];
    return result === undefined ? "" : `${index + 1}. ${title}: ${report(work, result)}`;
  });
  const isDone = results.every(({ status }) => status === "done");
  const verdict = isDone ? "The plan is done." : "I went through the plan, but not every step worked.";
  return { before: [plan], answer: { type: "text", text: [verdict, ...reports].join("\n\n") } };
}

function stepStatus(index: number, results: readonly ToolResult[]): PlanEntry["status"] {
  const result = results[index];
  if (result !== undefined) return result.status === "done" ? "completed" : "failed";
  return index === results.length ? "inProgress" : "pending";
}

function ask({ question, options }: Extract<Intent, { kind: "ask" }>, task: Task): Next {
  const [result] = task.results;
  if (result !== undefined) {
    return say(
      result.status === "done" ? `You answered: ${result.text}` : "Nobody answered, so I leave it there.",
    );
  }
  const choices = options.length === 0 ? {} : { options: options.map((label) => ({ label })) };
  const questions = [{ id: "answer", question, ...choices }];
  return { work: [{ type: "question", callId: `call-${task.index}-0`, questions }] };
}

/** Thinks once, before the first thing it does. */
function think(
  { about, next: following }: Extract<Intent, { kind: "think" }>,
  task: Task,
  request: ModelRequest,
): Next {
  const next = nextFor(following, task, request);
  if (task.results.length > 0) return next;
  const thought: Move = { type: "reasoning", text: thoughtAbout(about, following) };
  return "work" in next
    ? { work: [thought, ...next.work] }
    : { ...next, before: [thought, ...(next.before ?? [])] };
}

function thoughtAbout(about: string, following: Intent): string {
  const subject = about === "" ? "nothing in particular" : `"${about}"`;
  const course: Record<Intent["kind"], string> = {
    list: "To answer I have to look into the folder.",
    run: "The user wants a command to be run, so I will propose exactly that one.",
    write: "A file has to be written; the user will see the difference first.",
    plan: "Several steps are needed, so I will plan them.",
    ask: "The user knows this better than I do, so I will ask.",
    think: "Thinking about thinking leads nowhere, so I will answer.",
    count: "This is plain counting.",
    recall: "The conversation so far holds the answer.",
    fail: "This will not go well.",
    other: "No rule of mine fits, so I will say what I can do.",
  };
  return `The user wants me to think about ${subject}. ${course[following.kind]}`;
}

/** Looks at the changes with git, one command after the other, then says what they touch. */
function review(task: Task, { review: target }: ModelRequest): Next {
  const commands = reviewCommands(target ?? { type: "uncommittedChanges" });
  const command = commands[task.results.length];
  if (command !== undefined && task.results.every(({ status }) => status === "done")) {
    return { work: [call({ kind: "run", command }, task)] };
  }
  return say(describeChanges(task.results));
}

function say(text: string): Next {
  return { answer: { type: "text", text } };
}

/** The answers to all tasks, as one text or as the JSON that was asked for. */
function finalAnswer(answers: readonly Move[], request: ModelRequest): readonly Move[] {
  const asked = request.messages.findLast((message) => message.role === "user")?.text ?? "";
  const wantsJson = request.outputSchema !== undefined || /\b(?:as|in) json\b/i.test(asked);
  if (!wantsJson && answers.length === 1) return answers;
  const text = answers.map((move) => (move.type === "text" ? move.text : "")).join("\n\n");
  return [{ type: "text", text: wantsJson ? answerAsJson(text, request.outputSchema) : text }];
}
