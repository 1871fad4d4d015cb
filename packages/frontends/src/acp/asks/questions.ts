import type { QuestionRequest, UserQuestion } from "@flint/protocol";
import { ElicitationAnswer } from "../vocabulary.ts";
import type { ClientRequest, QuestionAnswer } from "./client-request.ts";
import { optionOf } from "./permission.ts";

const SKIP = "skip";

/** Whether a form may ask this: forms are shown and stored like any text, so secrets have no place in them. */
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
    read: (answer) => formAnswers(answer, questions),
  };
}

function fieldOf({ header, question, options = [], multiple }: UserQuestion): object {
  const told = { title: header ?? question, description: question };
  const choices = options.map(({ label, description }) => ({
    const: label,
    title: description === undefined ? label : `${label}: ${description}`,
  }));
  if (multiple === true) return { type: "array", ...told, items: { anyOf: choices } };
  return choices.length === 0 ? { type: "string", ...told } : { type: "string", ...told, oneOf: choices };
}

function formAnswers(answer: unknown, questions: readonly UserQuestion[]): QuestionAnswer {
  const parsed = ElicitationAnswer.safeParse(answer);
  if (!parsed.success || parsed.data.action !== "accept") return undefined;
  const content = new Map(Object.entries(parsed.data.content ?? {}));
  return Object.fromEntries(questions.map(({ id }) => [id, { answers: textsOf(content.get(id)) }]));
}

function textsOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** Whether every question can be answered by choosing one thing, as a client without forms can. */
export function isChoice({ questions }: QuestionRequest): boolean {
  return questions.every(({ options = [], multiple }) => options.length > 0 && multiple !== true);
}

/** A question as a choice, for a client that only knows requests for permission. */
export function choiceRequest(
  sessionId: string,
  itemId: string,
  { id, question, options = [] }: UserQuestion,
): ClientRequest<QuestionAnswer> & {
  readonly params: {
    readonly sessionId: string;
    readonly toolCall: object;
    readonly options: readonly object[];
  };
} {
  const choices = options.map(({ label, description }, index) => ({
    optionId: `choice-${index}`,
    name: description === undefined ? label : `${label}: ${description}`,
    kind: "allow_once",
  }));
  const skip = { optionId: SKIP, name: "No answer", kind: "reject_once" };
  const toolCall = { toolCallId: itemId, title: question, kind: "other", status: "pending" };
  return {
    method: "session/request_permission",
    params: { sessionId, toolCall, options: [...choices, skip] },
    read: (answer) => {
      const place = choices.findIndex(({ optionId }) => optionId === optionOf(answer));
      const chosen = options[place];
      return chosen === undefined ? undefined : { [id]: { answers: [chosen.label] } };
    },
  };
}
