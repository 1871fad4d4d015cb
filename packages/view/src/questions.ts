import type { UserQuestion } from "@flint/protocol";

const YES = /^(?:yes|go on|continue|allow|ok)\b/i;
const NO = /^(?:no|stop|cancel|deny)\b/i;

/** Reports whether the only options are a yes and a no, so that free text makes no sense. */
export function isYesOrNo({ options = [], secret }: UserQuestion): boolean {
  const [yes, no, ...more] = options;
  if (yes === undefined || no === undefined || more.length > 0 || secret === true) return false;
  return YES.test(yes.label) && NO.test(no.label);
}

/** The reply to an answer to a yes-or-no question that is neither. */
export const YES_OR_NO_HINT = "Please answer y, n, or a number.";

/**
 * Reports whether these can be sent: a yes-or-no question, such as that about a budget, takes one of its
 * options only.
 */
export function isAnswer(question: UserQuestion, answers: readonly string[]): boolean {
  const labels = (question.options ?? []).map(({ label }) => label);
  return !isYesOrNo(question) || answers.every((answer) => labels.includes(answer));
}

/** The option that a word stands for in a yes-or-no question. */
function yesOrNo({ options = [] }: UserQuestion, text: string): string {
  const word = text.toLowerCase();
  const place = ["y", "yes"].includes(word) ? 0 : ["n", "no"].includes(word) ? 1 : -1;
  const named = options.find(({ label }) => label.toLowerCase() === word);
  return (named ?? options[place])?.label ?? text;
}

/** The answers in a line: options by number, one or several as the question allows, or the text as typed. */
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
