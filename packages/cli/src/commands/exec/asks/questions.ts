import type { UserQuestion } from "@flint/protocol";
import type { OnQuestion } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { type Line, lineOf, linesOf, span } from "../../../screen/line.ts";
import type { LineBlock } from "../../../screen/wrap.ts";
import type { Asker } from "./asker.ts";

/** Lets the user answer what the agent wants to know. Without a user there are no answers, and the agent goes on. */
export function questionsFor(asker: Asker | undefined): OnQuestion {
  return async (request, { signal }) => {
    if (asker === undefined) return {};
    return asker.exclusively(async () => {
      const answers: Record<string, readonly string[]> = {};
      for (const question of request.questions) {
        const given = await ask(asker, question, signal);
        if (given.length > 0) answers[question.id] = given;
      }
      return answers;
    });
  };
}

async function ask(asker: Asker, question: UserQuestion, signal: AbortSignal): Promise<readonly string[]> {
  if (signal.aborted) return [];
  asker.put(questionBlock(question));
  const answers = await typedAnswers(asker, question, signal);
  asker.put({ head: [answerLine(question, answers)], indent: 2 });
  return answers;
}

/** Asks again until the line is an answer; undefined as a line is none at all. */
async function typedAnswers(
  asker: Asker,
  question: UserQuestion,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (;;) {
    const line = await asker.type(question.secret === true, signal);
    const answers = line === undefined ? [] : answersOf(question, line);
    if (!isYesOrNo(question) || answers.every((answer) => isOption(question, answer))) return answers;
    asker.put({ head: [lineOf("  That is none of the answers: y, n, or a number.", "yellow")] });
  }
}

const YES = /^(?:yes|go on|continue|allow|ok)\b/i;
const NO = /^(?:no|stop|cancel|deny)\b/i;

/** Whether there are only a yes and a no, so that no answer in other words makes sense. */
function isYesOrNo({ options = [], secret }: UserQuestion): boolean {
  const [yes, no, ...more] = options;
  if (yes === undefined || no === undefined || more.length > 0 || secret === true) return false;
  return YES.test(yes.label) && NO.test(no.label);
}

function isOption({ options = [] }: UserQuestion, answer: string): boolean {
  return options.some(({ label }) => label === answer);
}

/** The answer that a word stands for where only a yes and a no are to be had. */
function yesOrNo({ options = [] }: UserQuestion, text: string): string {
  const word = text.toLowerCase();
  const place = ["y", "yes"].includes(word) ? 0 : ["n", "no"].includes(word) ? 1 : -1;
  const named = options.find(({ label }) => label.toLowerCase() === word);
  return (named ?? options[place])?.label ?? text;
}

/** What a line means: numbers of options, one or several as the question allows, or else exactly what was typed. */
export function answersOf(question: UserQuestion, line: string): readonly string[] {
  const { options = [], multiple, secret } = question;
  if (secret === true) return line === "" ? [] : [line];
  const text = line.trim();
  if (text === "") return [];
  const numbers = text.split(/[\s,]+/).filter((word) => word !== "");
  const chosen = numbers.map((number) =>
    /^\d+$/.test(number) ? options[Number(number) - 1]?.label : undefined,
  );
  const labels = chosen.filter((label) => label !== undefined);
  const isChoice = labels.length === numbers.length && (multiple === true || numbers.length === 1);
  if (isChoice) return [...new Set(labels)];
  return [isYesOrNo(question) ? yesOrNo(question, text) : text];
}

function questionBlock(asked: UserQuestion): LineBlock {
  const { header, question, options = [] } = asked;
  const title: Line[] = header === undefined ? [] : [lineOf(escapeControls(header), "cyan")];
  const choices = options.map(({ label, description }, place): Line => {
    const more = description === undefined ? [] : [span(`  ${flat(description)}`, "dim")];
    return [span(`  ${place + 1}  `, "cyan"), span(flat(label)), ...more];
  });
  return {
    head: [...title, ...linesOf(escapeControls(question), "bold"), ...choices, hintLine(asked)],
    indent: 5,
  };
}

function hintLine(asked: UserQuestion): Line {
  const { options = [], multiple, secret } = asked;
  if (secret === true)
    return lineOf("  What you type is not shown. Enter sends it, Esc leaves it out.", "dim");
  if (isYesOrNo(asked)) return lineOf("  Type y or n, then Enter. Esc leaves it out.", "dim");
  if (options.length === 0) return lineOf("  Enter sends your answer, Esc leaves it out.", "dim");
  const how =
    multiple === true
      ? "Type numbers, such as 1 3, or your own answer."
      : "Type a number or your own answer.";
  return lineOf(`  ${how} Esc leaves it out.`, "dim");
}

function answerLine({ secret }: UserQuestion, answers: readonly string[]): Line {
  if (answers.length === 0) return lineOf("> (no answer)", "dim");
  return [span("> ", "cyan"), span(secret === true ? "(hidden)" : flat(answers.join(", ")))];
}

function flat(text: string): string {
  return escapeControls(text).replaceAll("\n", " ");
}
