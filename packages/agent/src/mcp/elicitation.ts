import type { Answers, UserQuestion } from "@flint/protocol";
import type {
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
} from "@modelcontextprotocol/client";
import { plain } from "./bounded-json.ts";
import { type FieldValue, FormField } from "./form-field.ts";

/** Asks the user; an empty record means that nobody answered. */
export type Ask = (questions: readonly UserQuestion[]) => Promise<Answers>;

const DECLINED: ElicitResult = { action: "decline" };
const UNANSWERED: ElicitResult = { action: "cancel" };

const MOST_FIELDS = 20;
const MOST_ROUNDS = 3;
const LONGEST_MESSAGE = 1000;
const LONGEST_ADDRESS = 2000;

/** Asks the user what a server wants to know, and answers the server. What cannot be asked well is declined. */
export function answerElicitation(
  server: string,
  params: ElicitRequestParams,
  ask: Ask,
): Promise<ElicitResult> {
  const introduction = `The MCP server ${server} asks: ${plain(params.message, LONGEST_MESSAGE)}`;
  return params.mode === "url" ? openAddress(params, introduction, ask) : fillForm(params, introduction, ask);
}

async function fillForm(
  { requestedSchema }: ElicitRequestFormParams,
  introduction: string,
  ask: Ask,
): Promise<ElicitResult> {
  const required = new Set(requestedSchema.required);
  const fields = Object.entries(requestedSchema.properties).map(
    ([name, schema], at) => new FormField(name, at + 1, schema, required.has(name)),
  );
  if (fields.length === 0) return confirm(introduction, ask);
  if (fields.length > MOST_FIELDS || !fields.every((field) => field.isAskable)) return DECLINED;
  return new Form(fields, introduction, ask).fill();
}

/** What is answered well is kept, what is not is asked again with the reason, a few times. */
class Form {
  readonly #ask: Ask;
  readonly #values = new Map<string, FieldValue>();
  /** What is still to be asked, with what has to be said before. */
  #open: readonly (readonly [FormField, string])[];

  constructor(fields: readonly FormField[], introduction: string, ask: Ask) {
    this.#ask = ask;
    this.#open = fields.map((field, at) => [field, at === 0 ? introduction : ""]);
  }

  async fill(): Promise<ElicitResult> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const answers = await this.#ask(this.#open.map(([field, before]) => field.question(before)));
      if (Object.keys(answers).length === 0) return UNANSWERED;
      this.#open = this.#open.flatMap(([field]) => this.#take(field, answers));
      if (this.#open.length === 0) return { action: "accept", content: Object.fromEntries(this.#values) };
    }
    return DECLINED;
  }

  #take(field: FormField, answers: Answers): [FormField, string][] {
    const reading = field.read(textsFor(field.id, answers));
    if (!reading.ok) return [[field, reading.reason]];
    if (reading.value !== undefined) this.#values.set(field.name, reading.value);
    return [];
  }
}

/** The whole address is shown, as a browser would read it, so that the user sees where it leads. */
async function openAddress(
  { url }: ElicitRequestURLParams,
  introduction: string,
  ask: Ask,
): Promise<ElicitResult> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !isHarmless(address)) return DECLINED;
  const question = `${introduction}\nOpen this address on ${address.host}:\n${address.href}`;
  const { chosen } = await choose(question, "Open an address", ["I opened it", "Decline"], ask);
  if (chosen === undefined) return UNANSWERED;
  return chosen === 0 ? { action: "accept" } : DECLINED;
}

function isHarmless({ protocol, username, password, href }: URL): boolean {
  const isWeb = protocol === "https:" || protocol === "http:";
  // A name before the host makes one site look like another.
  return isWeb && username === "" && password === "" && href.length <= LONGEST_ADDRESS;
}

async function confirm(introduction: string, ask: Ask): Promise<ElicitResult> {
  const { chosen } = await choose(introduction, "Confirm", ["Yes", "No"], ask);
  if (chosen === undefined) return UNANSWERED;
  return chosen === 0 ? { action: "accept", content: {} } : DECLINED;
}

/** Which of two options was chosen. Anything but the first one counts as the second. */
async function choose(
  question: string,
  header: string,
  labels: readonly [string, string],
  ask: Ask,
): Promise<{ readonly chosen: 0 | 1 | undefined }> {
  const id = "answer";
  const answers = await ask([{ id, header, question, options: labels.map((label) => ({ label })) }]);
  const [text] = textsFor(id, answers);
  if (text === undefined) return { chosen: undefined };
  return { chosen: text.trim().toLowerCase() === labels[0].toLowerCase() ? 0 : 1 };
}

function textsFor(id: string, answers: Answers): readonly string[] {
  return Object.hasOwn(answers, id) ? (answers[id]?.answers ?? []) : [];
}
