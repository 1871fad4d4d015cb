import { isDiff } from "./describe-input.ts";
import { type Intent, LONG_REQUEST, type PlanStep, type Rule, unquoted, type Work } from "./intent.ts";
import { Phrase } from "./phrase.ts";
import { splitRequest } from "./piped-input.ts";
import { append, create, explain, list, remove, rename, replace, write } from "./understand-files.ts";
import { chore, find, knownCommand, overview, run, search } from "./understand-work.ts";

/** Longer texts would only fill the log. */
const COUNT_LIMIT = 1_000_000;

const RECALL = new Phrase(/\bwhat (?:did|have) i (?:ask|asked|say|said)\b/i);
const SUMMARISE = new Phrase(
  /\b(?:summar(?:y of|i[sz]e) (?:the|our|this) conversation|context checkpoint compaction|(?:detailed|concise) summary of (?:the|our|this) conversation)\b/i,
);
const REVIEW = new Phrase(
  /^(?:please )?review (?:(?:the|my|our|all|uncommitted|current|these) )*(?:changes|work|diff)\b/i,
);
const DEMO = new Phrase(
  /^(?:please )?(?:show me (?:what you can do|a demo)|(?:give me|do|run) (?:a |the )?demo|demo(?:nstrate)?)\b/i,
);
const COUNT = new Phrase(/\bcount (?:from (?:1|one) )?to ([\d,._]+)/i);
const PLAN = new Phrase(/^(?:please )?(?:make a )?plan\b:?(?: (?:to|how to|for))?\s*([\s\S]*)$/i);
const ASK = new Phrase(/^(?:please )?ask me\b:?\s*([\s\S]*)$/i);
const THINK = new Phrase(
  /^(?:please )?think\b(?: (?:hard|carefully|well))?(?: about)?,?(?: and)?(?: then)?:?\s*([\s\S]*)$/i,
);
const AS_JSON = new Phrase(
  /^(?:please )?(?:answer|reply|respond)(?: only| just)? (?:as|in|with) json\b[:,]?\s*([\s\S]+)$/i,
);
const FIX = new Phrase(
  /^(?:(?:please|now|ok|okay|then|and|can you|could you)[, ]+)*(?:fix|repair|debug|solve|correct)\b[^`]*$/i,
);
const ABOUT_INPUT = new Phrase(
  /^(?:(?:please|now|can you|could you)[, ]+)*(?:explain|describe|summari[sz]e|review|check|analy[sz]e|look at|read|what(?:'s|’s| is| are| does| do)?)(?: to me| me)?(?: what)?(?: wrong (?:with|in))? (?:this|that|these|those|it|the|my)\b(?! (?:folder|directory|project|repo(?:sitory)?|code ?base|package|app|workspace|thread|conversation|tests?|types?|file|time|date|day)\b)(?! \S*[./]\w)[^`]*$/i,
);
const ABOUT_DIFF = new Phrase(
  /^(?:(?:please|now|can you|could you)[, ]+)*(?:explain|describe|summari[sz]e|review|what)\b[^`]*\b(?:chang(?:e|es|ed)|diff|patch|commit)\b/i,
);
const FAIL = new Phrase(/^(?:please )?fail\b(?: (?:with|because))?:?\s*([\s\S]*)$/i);

/** What can be a step of a plan. A command in quotes is one even in a sentence that sounds like something else. */
const WORK: readonly Rule<Work>[] = [
  write,
  chore,
  run,
  replace,
  append,
  rename,
  remove,
  create,
  list,
  overview,
  explain,
  find,
  search,
  knownCommand,
];

/** Nobody follows a longer plan. */
const MOST_STEPS = 20;

/** In order: the first that fits decides. What begins a request decides before what is somewhere in it. */
const RULES: readonly Rule[] = [
  fail,
  demo,
  asJson,
  plan,
  ask,
  think,
  summarise,
  recall,
  review,
  ...WORK,
  count,
  fix,
];

const RULES_FOR_LONG: readonly Rule[] = [
  fail,
  (text) => firstOf([summarise, recall, review], text.slice(0, LONG_REQUEST)),
  write,
  run,
];

/** What a request means. What was piped in is no part of it: it can only be what the request is about. */
export function intentOf(text: string): Intent {
  const { words, input } = splitRequest(text);
  if (input === undefined) return meaningOf(words);
  const isAbout = words === "" || (isDiff(input) ? ABOUT_DIFF : ABOUT_INPUT).test(words);
  if (isAbout || ABOUT_INPUT.test(words)) return { kind: "input", text: input };
  return withInput(meaningOf(words), input);
}

/** What no rule fits is most likely about what was piped in. */
function withInput(intent: Intent, input: string): Intent {
  if (intent.kind === "other") return { kind: "input", text: input };
  return intent.kind === "think" ? { ...intent, next: withInput(intent.next, input) } : intent;
}

function meaningOf(request: string): Intent {
  const rules = request.length > LONG_REQUEST ? RULES_FOR_LONG : RULES;
  return firstOf(rules, request) ?? { kind: "other", text: request };
}

function firstOf<Meant extends Intent>(rules: readonly Rule<Meant>[], request: string): Meant | undefined {
  for (const rule of rules) {
    const intent = rule(request);
    if (intent !== undefined) return intent;
  }
  return undefined;
}

function fail(text: string): Intent | undefined {
  const [, message] = FAIL.exec(text) ?? [];
  return message === undefined ? undefined : { kind: "fail", message: unquoted(message) || "as you asked" };
}

/** JSON that is given is the answer itself; anything else is a request of its own. */
function asJson(text: string): Intent | undefined {
  const [, rest] = AS_JSON.exec(text) ?? [];
  if (rest === undefined) return undefined;
  const given = unquoted(rest);
  return isJson(given) ? { kind: "json", text: given } : firstOf(RULES, rest.trim());
}

function isJson(text: string): boolean {
  // Expected: words.
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function fix(text: string): Intent | undefined {
  return FIX.test(text) ? { kind: "fix" } : undefined;
}

function demo(text: string): Intent | undefined {
  return DEMO.test(text) ? { kind: "demo" } : undefined;
}

function plan(text: string): Intent | undefined {
  const [, goal] = PLAN.exec(text) ?? [];
  return goal === undefined ? undefined : { kind: "plan", goal, steps: stepsOf(goal) };
}

/** The parts of a goal that can be worked on, or a look around if there are none. */
function stepsOf(goal: string): PlanStep[] {
  const parts = goal.split(
    /\s*(?:[;\n]|,(?! and\b)|,? and then\b|,? then\b|,? and\b(?=\s+(?:run|list|write|change|create|find|search|explain|add|replace|rename|delete|build|lint|test)\b))\s*/i,
  );
  const steps = parts.flatMap((title): PlanStep[] => {
    const work = firstOf(WORK, title.trim());
    return work === undefined ? [] : [{ title, work }];
  });
  return steps.length > 0
    ? steps.slice(0, MOST_STEPS)
    : [{ title: "Look at what is in the folder", work: { kind: "list" } }];
}

/** `ask me which colour: red, green or blue` offers three answers. */
function ask(text: string): Intent | undefined {
  const [, rest] = ASK.exec(text) ?? [];
  if (rest === undefined) return undefined;
  const [question = "", choices = ""] = rest.split(/:\s*(?=[^:]*$)/);
  const options = choices.split(/\s*,\s*(?:or\s+)?|\s+or\s+/).map((option) => option.replace(/[.?!]+$/, ""));
  return { kind: "ask", question: asQuestion(question), options: options.filter(Boolean) };
}

function asQuestion(text: string): string {
  const words = text.replace(/[.?!\s]+$/, "").replace(/^(?:if|whether)\s+/i, "");
  const shown = words === "" ? "what would you like me to do" : words;
  return `${shown.charAt(0).toUpperCase()}${shown.slice(1)}?`;
}

function think(text: string): Intent | undefined {
  const [, about] = THINK.exec(text) ?? [];
  return about === undefined ? undefined : { kind: "think", about, next: thoughtOf(about) };
}

/** A thought about a thought is no request. */
function thoughtOf(about: string): Intent {
  return THINK.test(about) ? { kind: "other", text: about } : meaningOf(about);
}

function summarise(text: string): Intent | undefined {
  return SUMMARISE.test(text) ? { kind: "summarise" } : undefined;
}

function recall(text: string): Intent | undefined {
  return RECALL.test(text) ? { kind: "recall" } : undefined;
}

function review(text: string): Intent | undefined {
  return REVIEW.test(text) ? { kind: "review" } : undefined;
}

function count(text: string): Intent | undefined {
  const [, digits] = COUNT.exec(text) ?? [];
  const to = Number(digits?.replace(/[^\d]/g, ""));
  return digits === undefined || !(to >= 1) ? undefined : { kind: "count", to: Math.min(to, COUNT_LIMIT) };
}
