import { ModelFailure, type ModelRequest } from "@flint/agent/model";
import { reviewCommands } from "@flint/agent/review-commands";
import { previewOf } from "@flint/protocol";
import { describeChanges } from "./changes.ts";
import { describeInput } from "./describe-input.ts";
import { type Answer, type Flow, thinkFirst, use } from "./flow.ts";
import { append, replace, write } from "./flows-changing.ts";
import { doChore } from "./flows-chores.ts";
import { demo } from "./flows-demo.ts";
import { explain, find, look, overview, search } from "./flows-looking.ts";
import { workThrough } from "./flows-plan.ts";
import type { Intent, PlanStep, Work } from "./intent.ts";
import { describeLastFailure } from "./last-failure.ts";
import { recall, summariseForUser } from "./memory.ts";
import { describeRun } from "./reports.ts";
import { Toolbox } from "./toolbox.ts";

const REAL_MODEL =
  "choose a real model: start Ollama, or set OPENAI_API_KEY, ANTHROPIC_API_KEY or FLINT_MODEL_URL, then see `flint models`.";

const ABILITIES = [
  "I am Flint's offline model: I follow fixed rules and understand only everyday requests.",
  'Try "show me what you can do", "what is in this folder?", "what does this project do?", "run the tests", "run `date`",',
  '"find files named config", "where is main used?", "explain README.md", "create hello.py that prints hi",',
  '"replace `a` with `b` in notes.txt", "plan to list files and run `date`" or "ask me which colour: red or blue".',
  `For anything else ${REAL_MODEL}`,
].join(" ");

/** The work that a request means. */
export function flowOf(intent: Intent, request: ModelRequest): Flow {
  const tools = new Toolbox(request.tools);
  switch (intent.kind) {
    case "plan":
      return plan(intent.steps, tools);
    case "demo":
      return demo(tools);
    case "review":
      return review(request, tools);
    case "ask":
      return ask(intent, tools);
    case "think":
      return thinkFirst(thoughtAbout(intent.about, intent.next), afterThought(intent, request));
    case "count":
      return say({ text: "", countTo: intent.to });
    case "recall":
      return say({ text: recall(request.messages) });
    case "summarise":
      return say({ text: summariseForUser(request.messages.slice(0, -1)) });
    case "fail":
      throw new ModelFailure({
        message: `The offline model failed: ${intent.message}`,
        errorInfo: "AgentFailed",
      });
    case "input":
      return say({ text: describeInput(intent.text) });
    case "fix":
      return say({ text: whatToFix(request) });
    case "json":
      return say({ text: intent.text, isJson: true });
    case "other":
      return say({ text: ABILITIES });
    default:
      return workOn(intent, tools);
  }
}

/** Looks at the changes with git, one command after the other, then says what they touch. */
export function* review({ review: target }: ModelRequest, tools: Toolbox): Flow {
  const results = [];
  for (const command of reviewCommands(target)) {
    const result = yield* use(tools.run(command));
    results.push(result);
    if (result.status !== "done") break;
  }
  return { text: describeChanges(results) };
}

/** A thought that leads to nothing is said to be one, in place of all that could be asked. */
function afterThought({ about, next }: Extract<Intent, { kind: "think" }>, request: ModelRequest): Flow {
  if (next.kind !== "other") return flowOf(next, request);
  const subject = about === "" ? "it" : `"${previewOf(about)}"`;
  const text = `I thought about ${subject}. I am Flint's offline model and follow fixed rules, so no more comes of it than this; for real thoughts ${REAL_MODEL}`;
  return say({ text });
}

function whatToFix({ messages }: ModelRequest): string {
  const failure = describeLastFailure(messages);
  return failure === undefined ? ABILITIES : `${failure}\n\nI follow fixed rules, so to fix it ${REAL_MODEL}`;
}

function workOn(work: Work, tools: Toolbox): Flow {
  switch (work.kind) {
    case "list":
      return look(work.path, tools);
    case "run":
      return run(work.command, tools);
    case "chore":
      return doChore(work.chore, tools);
    case "find":
      return find(work.name, tools);
    case "search":
      return search(work.text, tools);
    case "explain":
      return explain(work.path, tools);
    case "overview":
      return overview(tools);
    case "write":
      return write(work.path, work.content, tools);
    case "replace":
      return replace(work.path, work.from, work.to, tools);
    case "append":
      return append(work.path, work.line, tools);
  }
}

// biome-ignore lint/correctness/useYield: an answer without any work is a flow too.
function* say(answer: Answer): Flow {
  return answer;
}

function* run(command: string, tools: Toolbox): Flow {
  return { text: describeRun(command, yield* use(tools.run(command))) };
}

function* plan(steps: readonly PlanStep[], tools: Toolbox): Flow {
  const stages = steps.map(({ title, work }) => ({ title, begin: () => workOn(work, tools) }));
  const reports = yield* workThrough(stages, tools);
  const isDone = reports.every(({ worked }) => worked);
  const verdict = isDone ? "The plan is done." : "I went through the plan, but not every step worked.";
  const lines = reports.map(({ title, text }, index) => `${index + 1}. ${title}: ${text}`);
  return { text: [verdict, ...lines].join("\n\n") };
}

/** Without a tool to ask with, the question is the answer. */
function* ask({ question, options }: Extract<Intent, { kind: "ask" }>, tools: Toolbox): Flow {
  const choices = options.length === 0 ? {} : { options: options.map((label) => ({ label })) };
  const wish = tools.ask([{ id: "answer", question, ...choices }]);
  if (wish === undefined)
    return { text: options.length === 0 ? question : `${question} ${options.join(", ")}` };
  const result = yield* use(wish);
  if (result.status !== "done") return { text: "Nobody answered, so I leave it there." };
  return { text: `You answered: ${result.text}` };
}

const COURSES: Readonly<Record<Intent["kind"], string>> = {
  list: "To answer I have to look into the folder.",
  run: "The user wants a command to be run, so I will propose exactly that one.",
  chore: "I have to find out first how this project does that.",
  find: "The names of the files will tell.",
  search: "The text of the files will tell.",
  explain: "I have to read the file first.",
  overview: "What the project says about itself will tell.",
  write: "A file has to be written; the user will see the difference first.",
  replace: "I have to read the file first; the user will see the difference before it is changed.",
  append: "I have to read the file first; the user will see the difference before it is changed.",
  plan: "Several steps are needed, so I will plan them.",
  demo: "Showing is better than telling.",
  review: "The changes will tell.",
  ask: "The user knows this better than I do, so I will ask.",
  think: "Thinking about thinking leads nowhere, so I will answer.",
  count: "This is plain counting.",
  recall: "The conversation so far holds the answer.",
  summarise: "The conversation so far holds the answer.",
  fail: "This will not go well.",
  input: "What was given along will tell.",
  fix: "What failed last will tell.",
  json: "The answer is given already.",
  other: "No rule of mine fits, so I will say so.",
};

function thoughtAbout(about: string, following: Intent): string {
  const subject = about === "" ? "nothing in particular" : `"${about}"`;
  return `The user wants me to think about ${subject}. ${COURSES[following.kind]}`;
}
