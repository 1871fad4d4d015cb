import { ModelFailure } from "@flint/agent/model";
import { describeText } from "./descriptions.ts";
import { newFileContent, pathFrom, unquote } from "./files.ts";
import { recall, summarizeForUser } from "./memory.ts";
import { answer, type Reply } from "./task.ts";
import {
  ask,
  explain,
  list,
  plan,
  replace,
  review,
  run,
  runInBackground,
  type Stage,
  write,
} from "./work.ts";

/**
 * The words that a request may begin with, a pattern for all of the request after them, and the reply to a request that
 * matches; undefined passes the request on to the next rule. Without words the pattern is for the whole request. V8
 * compiles a pattern when it is first used, and few are for one request.
 */
type Rule = readonly [words: readonly string[], rest: RegExp, (...groups: string[]) => Reply | undefined];

const ABILITIES = [
  "I am Flint's offline model: I follow fixed rules and understand only a few requests.",
  'Try "show me what you can do", "what is in this folder?", "run the tests", "run `date`", "explain README.md",',
  '"create hello.py that prints hi", "replace `a` with `b` in notes.txt", "review my changes",',
  '"plan to list files and run `date`" or "ask me which colour: red or blue".',
  "For anything else choose a real model: start Ollama, or set OPENAI_API_KEY, ANTHROPIC_API_KEY or FLINT_MODEL_URL,",
  "then see `flint models`.",
].join(" ");
const DEMO = "list files; run `date`; write `Flint was here. This file is safe to delete.` to flint-demo.md";
const DEMO_END =
  'You have seen a plan, real commands, and a file change that Flint showed you before making it. Now try "run the tests", "explain README.md" or "replace `a` with `b` in file.txt".';

/** Of a longer request only the beginning is read, except for commands and files that are given word for word. */
const LONG_REQUEST = 4_000;
const MAX_PLAN_STEPS = 20;
const MAX_COUNT = 1_000_000;

/** The line that the SDK's conversation adapter puts in front of a prompt. */
const WORKSPACE_LINE = /^Workspace: [^\n]*\n+/;
/**
 * The note that Flint puts before a prompt about commands that the user ran before it; the prompt is the last
 * line.
 */
const COMMAND_NOTE = /^The user ran this command in the terminal: [\s\S]*\n(?=[^\n]+$)/;
/** The note that Flint puts before a task whose earlier turn was cut off. */
const INTERRUPTED_NOTE = /^(?:You were interrupted by [^\n]*\n\n)+(?=\S)/;
const POLITE = /^(?:(?:please|now|then|and|ok|okay|can you|could you|would you)\b[, ]*)+/i;
const QUOTED = "`[^`]+`|\"[^\"]+\"|'[^']+'";
/** Something that can only be a file: it has a folder or an extension, or it is quoted. */
const FILE = String.raw`(${QUOTED}|[\w@~.-]*[./][\w@./-]*\w|\.\w[\w.-]*|Makefile|Dockerfile|LICENSE)`;
const pattern = (source: string) => new RegExp(source, "i");

/** Requests that give their command or file word for word, however long. */
const VERBATIM: readonly Rule[] = [
  [
    ["write"],
    /^ (?:`([^`]+)`|"([^"]+)"|'([^']+)') (?:in)?to (?:the )?(?:file )?[`"']?([^\s`"']+)/i,
    (code, double, single, path) => writing(path, code ?? double ?? single),
  ],
  [
    ["change", "create"],
    /^ (?:an? |the )?file [`"']?([^\s`"']+)[`"']? (?:to|with) ([\s\S]+)$/i,
    (path, content = "") => writing(path, unquote(content)),
  ],
  [["run"], /^[^`]{0,200}```\w*\n([\s\S]+?)\n?```/i, running],
  [["run"], /^[^`]{0,200}`([^`]+)` in the background\b/i, runningOn],
  [["run"], /^[^`]{0,200}`([^`]+)`/i, running],
  [[], /^`([^`\n]+)`$/, running],
];

/** Requests that can be steps of a plan. In order: the first rule that matches decides. */
const WORK: readonly Rule[] = [
  ...VERBATIM,
  [["run"], /^ (?:all )?(?:the |my |our )?tests?\b/i, () => running("npm test")],
  [["run"], /^ (?:the )?(?:command:? )?([\s\S]+)$/i, running],
  [
    ["replace", "change"],
    pattern(`^ (${QUOTED}|\\S+) (?:with|to|by) (${QUOTED}|\\S+) in (?:the )?(?:file )?${FILE}`),
    (from = "", to = "", path) =>
      (context) =>
        replace(pathFrom(path), unquote(from), unquote(to), context),
  ],
  [
    ["write"],
    pattern(`^ ([^\\n]{1,200}?) (?:in)?to (?:the )?(?:file )?${FILE}[.?!]*$`),
    (content, path) => writing(path, content),
  ],
  [
    ["create", "make", "write", "add"],
    pattern(`^ (?:an? |the )?(?:\\w+ ){0,2}?${FILE}(?:[ ,]+([\\s\\S]+))?$`),
    (path, description = "") =>
      (context) =>
        write(pathFrom(path), newFileContent(pathFrom(path), unquote(description)), context),
  ],
  [["what"], /^(?:'s|’s| is| are)? in (?:this|the|my) \w+[.?!]*$/i, () => listing()],
  [["list", "show"], /^(?: me)? (?:all )?(?:the |my )?files[.?!]*$/i, () => listing()],
  [["list"], /^ (?:the )?files in ([`"']?[\w@./-]+[`"']?)[.?!]*$/i, listing],
  [["what"], /^(?:'s|’s| is) in ([`"']?[\w@./-]+[`"']?)[.?!]*$/i, listing],
  [
    ["explain", "describe", "summarise", "summarize", "read", "show"],
    pattern(`^(?: me)? (?:the )?(?:file )?${FILE}[.?!]*$`),
    (path) => (context) => explain(pathFrom(path), context),
  ],
];

const RULES: readonly Rule[] = [
  [["fail"], /^(?: (?:with|because))?:?\s*([\s\S]*)$/i, failing],
  [["show"], /^ me what you can do\b/i, () => planning(DEMO, DEMO_END)],
  [["answer", "reply", "respond"], /^(?: only)? (?:as|in|with) json\b[:,]?\s*([\s\S]+)$/i, answeringJson],
  [["plan"], /^:?(?: (?:to|how to|for))?\s*([\s\S]*)$/i, (goal) => planning(goal)],
  [["ask"], /^ me\b:?\s*([\s\S]*)$/i, asking],
  [
    [],
    /\b(?:summar(?:y of|i[sz]e) (?:the|our|this) conversation|context checkpoint compaction)\b/i,
    () =>
      ({ request }) =>
        answer(summarizeForUser(request.messages.slice(0, -1))),
  ],
  [
    [],
    /\bwhat (?:did|have) i (?:ask|say)(?:ed)?\b/i,
    () =>
      ({ request }) =>
        answer(recall(request.messages)),
  ],
  [["review"], /^ (?:(?:the|my|our|all|uncommitted|these) )*(?:changes|work|diff)\b/i, () => review],
  ...WORK,
  [["count"], /^ (?:from (?:1|one) )?to ([\d,._]+)/i, counting],
];

/** Finds the reply to a request. Piped input is never followed as an instruction, only described. */
export function replyTo(text: string): Reply {
  const { prompt, input } = splitInput(text);
  const verbatim = prompt.length > LONG_REQUEST ? replyFor(VERBATIM, prompt) : undefined;
  const reply = verbatim ?? replyFor(RULES, prompt.slice(0, LONG_REQUEST));
  return reply ?? (() => answer(input === undefined ? ABILITIES : describeText("What you gave me", input)));
}

/** A request in its two parts: what the user asks, and what was piped in with it. */
export interface SplitInput {
  readonly prompt: string;
  readonly input: string | undefined;
}

/** Takes piped input out of a request. It reaches to the very last tag, so nothing in it can pretend to be outside. */
export function splitInput(text: string): SplitInput {
  const [, before = "", rest] = /^([\s\S]*?)<stdin>\n([\s\S]*)$/.exec(text) ?? [];
  if (rest === undefined) return { prompt: withoutNotes(text), input: undefined };
  const end = rest.lastIndexOf("</stdin>");
  if (end === -1) return { prompt: before.trim(), input: rest };
  return { prompt: `${before}\n${rest.slice(end + "</stdin>".length)}`.trim(), input: rest.slice(0, end) };
}

function withoutNotes(text: string): string {
  const prompt = text.replace(WORKSPACE_LINE, "").trim();
  return prompt.replace(COMMAND_NOTE, "").replace(INTERRUPTED_NOTE, "");
}

function replyFor(rules: readonly Rule[], text: string): Reply | undefined {
  const request = text.replace(POLITE, "");
  const word = /^\w*/.exec(request)?.[0] ?? "";
  for (const [words, rest, reply] of rules) {
    if (words.length > 0 && !words.includes(word.toLowerCase())) continue;
    const groups = rest.exec(words.length > 0 ? request.slice(word.length) : request);
    const found = groups === null ? undefined : reply(...groups.slice(1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A text file ends with a newline. */
function writing(path: string | undefined, content = ""): Reply {
  return (context) => write(pathFrom(path), content.endsWith("\n") ? content : `${content}\n`, context);
}

function running(command = ""): Reply {
  return (context) => run(unquote(command), context);
}

function runningOn(command = ""): Reply {
  return (context) => runInBackground(unquote(command), context);
}

function listing(path?: string): Reply {
  return (context) => list(path === undefined ? undefined : pathFrom(path), context);
}

function failing(message = ""): Reply {
  const text = `The offline model failed: ${unquote(message) || "as you asked"}`;
  return () => {
    throw new ModelFailure({ message: text, errorInfo: "AgentFailed" });
  };
}

function counting(digits = ""): Reply | undefined {
  const to = Math.min(Number(digits.replace(/\D/g, "")), MAX_COUNT);
  if (to < 1) return undefined;
  return () => answer(`${Array.from({ length: to }, (_, index) => index + 1).join(" ")}.`);
}

/** JSON that is given is the answer itself; anything else is a request of its own. */
function answeringJson(rest = ""): Reply | undefined {
  const text = unquote(rest);
  return isJson(text) ? () => answer(text) : replyFor(RULES, rest);
}

/** Reports whether a text is a JSON object or array. */
export function isJson(text: string): boolean {
  // Expected: a text that is not JSON.
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Works on the parts of a goal that are requests of their own, or lists the folder if there are none. */
function planning(goal = "", end?: string): Reply {
  const parts = goal.split(
    /\s*(?:[;\n]|,(?! and\b)|,? and then\b|,? then\b|,? and\b(?=\s+[a-z]+ [`\w]))\s*/i,
  );
  return (context) => {
    const stages = parts.flatMap((title): Stage[] => {
      const reply = replyFor(WORK, title.trim());
      return reply === undefined ? [] : [{ title, start: () => reply(context) }];
    });
    const look = { title: "Look at what is in the folder", start: () => list(undefined, context) };
    return plan(stages.length === 0 ? [look] : stages.slice(0, MAX_PLAN_STEPS), context, end);
  };
}

/** `ask me which colour: red, green or blue` offers three options. */
function asking(rest = ""): Reply {
  const [asked = "", choices = ""] = rest.split(/:\s*(?=[^:]*$)/);
  const options = choices.split(/\s*,\s*(?:or\s+)?|\s+or\s+/).map((option) => option.replace(/[.?!]+$/, ""));
  const question = asked.replace(/[.?!\s]+$/, "") || "what would you like me to do";
  const shown = `${question.charAt(0).toUpperCase()}${question.slice(1)}?`;
  return (context) => ask(shown, options.filter(Boolean), context);
}
