import type { QuestionRequest, UserQuestion } from "@flint/protocol";
import { ElicitationResponse } from "../vocabulary.ts";
import { optionOf } from "./permission.ts";

/** Answers by question id; undefined if the user declined to answer. */
export type QuestionAnswer = Readonly<Record<string, { answers: string[] }>> | undefined;

/** A request to the client, and how its response is read. */
export interface ClientRequest<Answer> {
  readonly method: string;
  readonly params: object;
  read(response: unknown): Answer;
}

const SKIP = "skip";

/**
 * Reports whether the questions can be asked in a form. Secrets cannot: forms are shown and logged as plain
 * text.
 */
export function isAskable({ questions }: QuestionRequest): boolean {
  return !questions.some(({ secret }) => secret === true);
}

/** All questions in one form. */
export function formRequest(sessionId: string, request: QuestionRequest): ClientRequest<QuestionAnswer> {
  const { questions, itemId } = request;
  const [first] = questions;
  const message = questions.length === 1 && first !== undefined ? first.question : "The agent has questions.";
  const properties = Object.fromEntries(questions.map((question) => [question.id, fieldOf(question)]));
  const required = questions.map(({ id }) => id);
  return {
    method: "elicitation/create",
    params: {
      ...{ sessionId, toolCallId: itemId, mode: "form", message },
      requestedSchema: { type: "object", properties, required },
    },
    read: (response) => formAnswers(response, questions),
  };
}

function fieldOf({ header, question, options = [], multiple }: UserQuestion): object {
  const labels = { title: header ?? question, description: question };
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: description === undefined ? label : `${label}: ${description}`,
  }));
  if (multiple === true) return { type: "array", ...labels, items: { anyOf: choices } };
  return choices.length === 0 ? { type: "string", ...labels } : { type: "string", ...labels, oneOf: choices };
}

function formAnswers(response: unknown, questions: readonly UserQuestion[]): QuestionAnswer {
  const parsed = ElicitationResponse.safeParse(response);
  if (!parsed.success || parsed.data.action !== "accept") return undefined;
  const content = new Map(Object.entries(parsed.data.content ?? {}));
  return Object.fromEntries(questions.map(({ id }) => [id, { answers: stringsOf(content.get(id)) }]));
}

function stringsOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** Reports whether every question is a single choice, which a permission request can ask. */
export function isChoice({ questions }: QuestionRequest): boolean {
  return questions.every(({ options = [], multiple }) => options.length > 0 && multiple !== true);
}

/** The options of a choice as a permission request lists them, and how the chosen one is read. */
export function choiceOptions({ id, options = [] }: UserQuestion): {
  readonly options: readonly object[];
  read(response: unknown): QuestionAnswer;
} {
  const choices = options.map(({ label, description }, index) => ({
    optionId: `choice-${index}`,
    name: description === undefined ? label : `${label}: ${description}`,
    kind: "allow_once",
  }));
  const skip = { optionId: SKIP, name: "No answer", kind: "reject_once" };
  return {
    options: [...choices, skip],
    read: (response) => {
      const index = choices.findIndex(({ optionId }) => optionId === optionOf(response));
      const chosen = options[index];
      return chosen === undefined ? undefined : { [id]: { answers: [chosen.label] } };
    },
  };
}
