import type { UserQuestion } from "@flint/protocol";
import type { OnQuestion } from "@flint/sdk";
import { type Line, type LineBlock, lineOf, linesOf, span } from "@flint/tui/draw";
import { answersOf, escapeControls, isAnswer, isYesOrNo, oneLine, YES_OR_NO_HINT } from "@flint/view";
import type { Asker } from "./asker.ts";

/** Asks the user what the agent wants to know. In an unattended run there are no answers, and the agent continues. */
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

/** Asks again until the line is a valid answer; a cancelled line is no answer. */
async function typedAnswers(
  asker: Asker,
  question: UserQuestion,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (;;) {
    const line = await asker.type(question.secret === true, signal);
    const answers = line === undefined ? [] : answersOf(question, line);
    if (isAnswer(question, answers)) return answers;
    asker.put({ head: [lineOf(`  ${YES_OR_NO_HINT}`, "yellow")] });
  }
}

function questionBlock(asked: UserQuestion): LineBlock {
  const { header, question, options = [] } = asked;
  const title: Line[] = header === undefined ? [] : [lineOf(escapeControls(header), "cyan")];
  const choices = options.map(({ label, description }, place): Line => {
    const more = description === undefined ? [] : [span(`  ${oneLine(description)}`, "dim")];
    return [span(`  ${place + 1}  `, "cyan"), span(oneLine(label)), ...more];
  });
  return {
    head: [...title, ...linesOf(escapeControls(question), "bold"), ...choices, hintLine(asked)],
    indent: 5,
  };
}

function hintLine(asked: UserQuestion): Line {
  const { options = [], multiple, secret } = asked;
  if (secret === true)
    return lineOf("  Your input is hidden. Enter sends it, Esc skips the question.", "dim");
  if (isYesOrNo(asked)) return lineOf("  Type y or n, then Enter. Esc skips the question.", "dim");
  if (options.length === 0) return lineOf("  Enter sends your answer, Esc skips the question.", "dim");
  const how =
    multiple === true
      ? "Type numbers, such as 1 3, or your own answer."
      : "Type a number or your own answer.";
  return lineOf(`  ${how} Esc skips the question.`, "dim");
}

function answerLine({ secret }: UserQuestion, answers: readonly string[]): Line {
  if (answers.length === 0) return lineOf("> (no answer)", "dim");
  return [span("> ", "cyan"), span(secret === true ? "(hidden)" : oneLine(answers.join(", ")))];
}
