import { type Answers, isRecord, type UserQuestion } from "@flint/protocol";
import { displayText } from "../text/characters.ts";
import { type FieldValue, FormField } from "./form-field.ts";

/** Asks the user; an empty record means that no one answered. */
export type AskUser = (questions: readonly UserQuestion[]) => Promise<Answers>;

/** The result of an elicitation, as MCP has it. */
export type ElicitationResult =
  | { readonly action: "accept"; readonly content?: Record<string, FieldValue> }
  | { readonly action: "decline" | "cancel" };

const DECLINED: ElicitationResult = { action: "decline" };
const CANCELLED: ElicitationResult = { action: "cancel" };

const MAX_FIELDS = 20;
const MAX_ROUNDS = 3;
const MAX_MESSAGE = 1000;
const MAX_URL = 2000;

/**
 * Asks the user what an MCP server or an agent wants to know, and returns the result for it. `source` says who asks, and
 * `request` has the fields of MCP's elicitation request. What cannot be asked well or safely is declined.
 */
export async function answerElicitation(
  source: string,
  request: Readonly<Record<string, unknown>>,
  ask: AskUser,
): Promise<ElicitationResult> {
  const { message, mode, url, requestedSchema } = request;
  const introduction = `${source} asks: ${displayText(typeof message === "string" ? message : "", MAX_MESSAGE)}`;
  if (mode === "url") return openUrl(url, introduction, ask);
  if (mode !== undefined && mode !== "form") return DECLINED;
  const { properties, required } = isRecord(requestedSchema) ? requestedSchema : {};
  const names = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(
    ([name, schema], at) => new FormField(name, at + 1, schema, names.has(name)),
  );
  if (fields.length === 0) return confirm(introduction, ask);
  if (fields.length > MAX_FIELDS || !fields.every((field) => field.isAskable)) return DECLINED;
  return fillForm(fields, introduction, ask);
}

/** Asks again, with the reason, for what was not answered well, a few times. */
async function fillForm(
  fields: readonly FormField[],
  introduction: string,
  ask: AskUser,
): Promise<ElicitationResult> {
  const content = new Map<string, FieldValue>();
  let open = fields.map((field, at) => ({ field, before: at === 0 ? introduction : "" }));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const answers = await ask(open.map(({ field, before }) => field.question(before)));
    if (Object.keys(answers).length === 0) return CANCELLED;
    open = open.flatMap(({ field }) => {
      const answer = field.read(answersFor(field.id, answers));
      if ("reason" in answer) return [{ field, before: answer.reason }];
      if (answer.value !== undefined) content.set(field.name, answer.value);
      return [];
    });
    if (open.length === 0) return { action: "accept", content: Object.fromEntries(content) };
  }
  return DECLINED;
}

/** Shows the whole URL as a browser would read it, so that the user sees where it leads. */
async function openUrl(value: unknown, introduction: string, ask: AskUser): Promise<ElicitationResult> {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !isSafe(url)) return DECLINED;
  const question = `${introduction}\nOpen this address on ${url.host}:\n${url.href}`;
  return choose(question, "Open an address", ["I opened it", "Decline"], ask);
}

/** Credentials before the host make one site look like another. */
function isSafe({ protocol, username, password, href }: URL): boolean {
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && username === "" && password === "" && href.length <= MAX_URL;
}

async function confirm(introduction: string, ask: AskUser): Promise<ElicitationResult> {
  const result = await choose(introduction, "Confirm", ["Yes", "No"], ask);
  return result.action === "accept" ? { ...result, content: {} } : result;
}

/** Only the first label accepts. */
async function choose(
  question: string,
  header: string,
  labels: readonly [string, string],
  ask: AskUser,
): Promise<ElicitationResult> {
  const id = "answer";
  const answers = await ask([{ id, header, question, options: labels.map((label) => ({ label })) }]);
  const [text] = answersFor(id, answers);
  if (text === undefined) return CANCELLED;
  return text.trim().toLowerCase() === labels[0].toLowerCase() ? { action: "accept" } : DECLINED;
}

function answersFor(id: string, answers: Answers): readonly string[] {
  return Object.hasOwn(answers, id) ? (answers[id]?.answers ?? []) : [];
}
