/** What the offline model understands of a request. */
export type Intent =
  | { readonly kind: "list" }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | { readonly kind: "plan"; readonly goal: string; readonly steps: readonly PlanStep[] }
  | { readonly kind: "ask"; readonly question: string; readonly options: readonly string[] }
  | { readonly kind: "think"; readonly about: string; readonly next: Intent }
  | { readonly kind: "count"; readonly to: number }
  | { readonly kind: "recall" }
  | { readonly kind: "fail"; readonly message: string }
  | { readonly kind: "other"; readonly text: string };

/** One step of a plan, in the user's words. */
export interface PlanStep {
  readonly title: string;
  readonly work: Work;
}

/** What is done by one call of a tool. */
export type Work = Extract<Intent, { kind: "list" | "run" | "write" }>;

type Rule = (text: string) => Intent | undefined;

/** Longer texts would only fill the log. */
const COUNT_LIMIT = 1_000_000;

const LIST =
  /\bwhat(?:'s|’s| is| are)?(?: there)? in (?:this|the|my) (?:folder|directory|project|workspace|repo(?:sitory)?)\b|\blist (?:all )?(?:the |my )?files\b|\b(?:show|which) (?:me )?(?:the |my )?files\b/i;
const RECALL = /\bwhat (?:did|have) i (?:ask|asked|say|said)\b/i;
const COUNT = /\bcount (?:from (?:1|one) )?to ([\d,._]+)/i;
const FENCED = /\brun\b[^`]*```\w*\n([\s\S]+?)\n?```/i;
const QUOTED_RUN = /\brun\b[^`]*`([^`]+)`/i;
const PLAIN_RUN = /^(?:please )?run (?:the )?(?:command:? )?([\s\S]+)$/i;
const WRITE = /\bwrite (`|"|')([\s\S]+?)\1 (?:in)?to (?:the )?(?:file )?[`"']?([^\s`"']+)[`"']?/i;
const CHANGE = /\bchange (?:the )?file [`"']?([^\s`"']+)[`"']? to ([\s\S]+)$/i;
const CREATE = /\bcreate (?:a |the )?file [`"']?([^\s`"']+)[`"']? with ([\s\S]+)$/i;
const PLAN = /^(?:please )?(?:make a )?plan\b:?(?: (?:to|how to|for))?\s*([\s\S]*)$/i;
const ASK = /^(?:please )?ask me\b:?\s*([\s\S]*)$/i;
const THINK =
  /^(?:please )?think\b(?: (?:hard|carefully|well))?(?: about)?,?(?: and)?(?: then)?:?\s*([\s\S]*)$/i;
const FAIL = /^(?:please )?fail\b(?: (?:with|because))?:?\s*([\s\S]*)$/i;

/** In order: the first that fits decides. What begins a request decides before what is somewhere in it. */
const RULES: readonly Rule[] = [fail, plan, ask, think, recall, write, run, list, count];

/** What a request means. */
export function intentOf(text: string): Intent {
  const request = text.trim();
  for (const rule of RULES) {
    const intent = rule(request);
    if (intent !== undefined) return intent;
  }
  return { kind: "other", text: request };
}

function fail(text: string): Intent | undefined {
  const [, message] = FAIL.exec(text) ?? [];
  return message === undefined ? undefined : { kind: "fail", message: unquoted(message) || "as you asked" };
}

function plan(text: string): Intent | undefined {
  const [, goal] = PLAN.exec(text) ?? [];
  return goal === undefined ? undefined : { kind: "plan", goal, steps: stepsOf(goal) };
}

/** The parts of a goal that can be worked on, or a look around if there are none. */
function stepsOf(goal: string): PlanStep[] {
  const parts = goal.split(
    /\s*(?:[;\n]|,(?! and\b)|,? and then\b|,? then\b|,? and\b(?=\s+(?:run|list|write|change|create)\b))\s*/i,
  );
  const steps = parts.flatMap((title): PlanStep[] => {
    const work = intentOf(title);
    return isWork(work) ? [{ title, work }] : [];
  });
  return steps.length > 0 ? steps : [{ title: "Look at what is in the folder", work: { kind: "list" } }];
}

function isWork(intent: Intent): intent is Work {
  return intent.kind === "list" || intent.kind === "run" || intent.kind === "write";
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
  return about === undefined ? undefined : { kind: "think", about, next: intentOf(about) };
}

function recall(text: string): Intent | undefined {
  return RECALL.test(text) ? { kind: "recall" } : undefined;
}

function write(text: string): Intent | undefined {
  const [, , quoted, target] = WRITE.exec(text) ?? [];
  if (quoted !== undefined && target !== undefined) return writeIntent(target, quoted);
  const [, path, content] = CHANGE.exec(text) ?? CREATE.exec(text) ?? [];
  return path === undefined || content === undefined ? undefined : writeIntent(path, unquoted(content));
}

/** A text file ends with a line end. */
function writeIntent(path: string, content: string): Intent {
  return {
    kind: "write",
    path: path.replace(/[.,;]$/, ""),
    content: content.endsWith("\n") ? content : `${content}\n`,
  };
}

function run(text: string): Intent | undefined {
  const [, command] = FENCED.exec(text) ?? QUOTED_RUN.exec(text) ?? PLAIN_RUN.exec(text) ?? [];
  return command === undefined ? undefined : { kind: "run", command: unquoted(command) };
}

function list(text: string): Intent | undefined {
  return LIST.test(text) ? { kind: "list" } : undefined;
}

function count(text: string): Intent | undefined {
  const [, digits] = COUNT.exec(text) ?? [];
  const to = Number(digits?.replace(/[^\d]/g, ""));
  return digits === undefined || !(to >= 1) ? undefined : { kind: "count", to: Math.min(to, COUNT_LIMIT) };
}

/** Without the quotes around it, if it has a pair of them. */
function unquoted(text: string): string {
  const trimmed = text.trim();
  const [, , inner] = /^(`|"|')([\s\S]*)\1$/.exec(trimmed) ?? [];
  return inner ?? trimmed;
}
