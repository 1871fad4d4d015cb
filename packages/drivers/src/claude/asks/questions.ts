import type { Answers, UserQuestion } from "@flint/protocol";
import { isRecord, textField } from "../fields.ts";

type Input = Readonly<Record<string, unknown>>;

/** The tool with which Claude asks the user. */
export const ASK_USER = "AskUserQuestion";

/** What Claude wants to know, in Flint's words. */
export function questionsOf({ questions }: Input): UserQuestion[] {
  if (!Array.isArray(questions)) return [];
  return questions.map((question: unknown, index) => {
    const header = textField(question, "header");
    const options =
      isRecord(question) && Array.isArray(question.options) ? question.options.map(optionOf) : [];
    return {
      id: String(index + 1),
      question: textField(question, "question") ?? "",
      ...(header === undefined ? {} : { header }),
      ...(options.length === 0 ? {} : { options }),
      ...(isRecord(question) && question.multiSelect === true ? { multiple: true } : {}),
    };
  });
}

/** The input of the tool with the answers in it, by the text of each question; undefined if nobody answered. */
export function answeredInput(input: Input, answers: Answers): Input | undefined {
  const given = questionsOf(input).flatMap(({ id, question }) => {
    const texts = answers[id]?.answers ?? [];
    return texts.length === 0 ? [] : [[question, texts.join(", ")] as const];
  });
  return given.length === 0 ? undefined : { ...input, answers: Object.fromEntries(given) };
}

function optionOf(option: unknown): { label: string; description?: string } {
  const label = textField(option, "label") ?? "";
  const description = textField(option, "description");
  return description === undefined ? { label } : { label, description };
}
