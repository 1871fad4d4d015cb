import type { Answers, UserQuestion } from "@flint/protocol";
import type { ClaudeElicitation } from "@flint/protocol/claude";
import { isRecord, textField } from "./fields.ts";

/** Asks the user; an empty record means that nobody answered. */
export type Ask = (questions: readonly UserQuestion[]) => Promise<Answers>;

const MOST_FIELDS = 20;
const LONGEST_TEXT = 1000;
const DECLINED = { action: "decline" };
const UNANSWERED = { action: "cancel" };

/** Asks the user what an MCP server wants to know in the middle of a call. What cannot be asked well is declined. */
export async function answerElicitation(
  ask: ClaudeElicitation,
  user: Ask,
): Promise<Readonly<Record<string, unknown>>> {
  const { requested_schema: schema, mode } = ask;
  const properties = isRecord(schema) && isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const isForm = mode == null || mode === "form";
  if (!isForm || properties.length === 0 || properties.length > MOST_FIELDS) return DECLINED;
  const introduction = `The MCP server ${ask.mcp_server_name} asks: ${(ask.message ?? "").slice(0, LONGEST_TEXT)}`;
  const questions = properties.map(([name, field], at) => questionOf(name, field, at, introduction));
  const answers = await user(questions);
  if (Object.keys(answers).length === 0) return UNANSWERED;
  const content: Record<string, unknown> = {};
  for (const [at, [name, field]] of properties.entries()) {
    const text = answers[String(at + 1)]?.answers[0];
    const value = text === undefined ? undefined : answeredValue(field, text);
    if (value === undefined && isRequired(schema, name)) return DECLINED;
    if (value !== undefined) content[name] = value;
  }
  return { action: "accept", content };
}

function questionOf(name: string, field: unknown, at: number, introduction: string): UserQuestion {
  const title = textField(field, "title") ?? name;
  const description = textField(field, "description");
  const asked = description === undefined ? title : `${title}: ${description.slice(0, LONGEST_TEXT)}`;
  const choices = choicesOf(field);
  return {
    id: String(at + 1),
    header: title.slice(0, LONGEST_TEXT),
    question: at === 0 ? `${introduction}\n${asked}` : asked,
    ...(choices.length === 0 ? {} : { options: choices.map((label) => ({ label })) }),
  };
}

function choicesOf(field: unknown): string[] {
  if (!isRecord(field)) return [];
  if (field.type === "boolean") return ["Yes", "No"];
  return Array.isArray(field.enum) ? field.enum.filter((choice) => typeof choice === "string") : [];
}

/** What an answer means for a field; undefined if it means nothing. */
function answeredValue(field: unknown, text: string): unknown {
  switch (textField(field, "type")) {
    case "boolean":
      return text === "Yes" ? true : text === "No" ? false : undefined;
    case "number":
    case "integer":
      return text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
    default: {
      const choices = choicesOf(field);
      return choices.length === 0 || choices.includes(text) ? text : undefined;
    }
  }
}

function isRequired(schema: unknown, name: string): boolean {
  return isRecord(schema) && Array.isArray(schema.required) && schema.required.includes(name);
}
