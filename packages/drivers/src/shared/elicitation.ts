import { type Answers, isId, type UserQuestion } from "@flint/protocol";
import { type JsonObject, listOf, numberOf, objectOf, textOf } from "./json.ts";

/** Asks the user; an empty record means that nobody answered. */
export type Ask = (questions: readonly UserQuestion[]) => Promise<Answers>;

/** What whoever wanted to know is answered. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" | "cancel" };

type Reading = { readonly value: unknown } | { readonly reason: string };

const DECLINED: ElicitationAnswer = { action: "decline" };
const MOST_FIELDS = 20;
const MOST_CHOICES = 100;
const MOST_ROUNDS = 3;
const LONGEST_TEXT = 1000;
const LONGEST_ADDRESS = 2000;

/**
 * Asks the user what an agent or one of its MCP servers wants to know, in the words of MCP. `title` says who asks. What
 * cannot be asked well is declined.
 */
export async function answerElicitation(
  title: string,
  request: JsonObject,
  ask: Ask,
): Promise<ElicitationAnswer> {
  const introduction = `${title} asks: ${short(textOf(request.message) ?? "")}`;
  if (request.mode === "url") return openAddress(textOf(request.url) ?? "", introduction, ask);
  if (request.mode !== "form") return DECLINED;
  const schema = objectOf(request.requestedSchema);
  const required = new Set(listOf(schema.required));
  const fields = Object.entries(objectOf(schema.properties)).map(
    ([name, field], at) => new Field(name, at + 1, objectOf(field), required.has(name)),
  );
  if (fields.length === 0) return confirm(introduction, ask);
  if (fields.length > MOST_FIELDS || !fields.every((field) => field.isAskable)) return DECLINED;
  return fill(fields, introduction, ask);
}

/** What is answered well is kept, what is not is asked again with the reason, a few times. */
async function fill(fields: readonly Field[], introduction: string, ask: Ask): Promise<ElicitationAnswer> {
  const content: Record<string, unknown> = {};
  let open = fields.map((field, at) => ({ field, before: at === 0 ? introduction : "" }));
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const answers = await ask(open.map(({ field, before }) => field.question(before)));
    if (Object.keys(answers).length === 0) return { action: "cancel" };
    open = open.flatMap(({ field }) => {
      const reading = field.read(given(answers, field.id));
      if ("reason" in reading) return [{ field, before: reading.reason }];
      if (reading.value !== undefined) content[field.name] = reading.value;
      return [];
    });
    if (open.length === 0) return { action: "accept", content };
  }
  return DECLINED;
}

/** One field of a form. */
class Field {
  readonly name: string;
  readonly id: string;
  readonly #schema: JsonObject;
  readonly #isRequired: boolean;
  readonly #choices: readonly { readonly label: string; readonly value: string }[];

  constructor(name: string, place: number, schema: JsonObject, isRequired: boolean) {
    this.name = name;
    this.id = isId(name) && !name.startsWith("_") ? name : `field-${place}`;
    this.#schema = schema;
    this.#isRequired = isRequired;
    this.#choices = choicesOf(schema);
  }

  get isAskable(): boolean {
    return this.name !== "__proto__" && this.#choices.length <= MOST_CHOICES;
  }

  question(introduction: string): UserQuestion {
    const header = short(textOf(this.#schema.title) ?? this.name);
    const description = textOf(this.#schema.description);
    const told = description === undefined ? header : `${header}: ${short(description)}`;
    const labels = this.#schema.type === "boolean" ? ["Yes", "No"] : this.#choices.map(({ label }) => label);
    return {
      id: this.id,
      header,
      question: introduction === "" ? told : `${introduction}\n${told}`,
      ...(labels.length === 0 ? {} : { options: labels.map((label) => ({ label })) }),
      ...(this.#schema.type === "array" ? { multiple: true } : {}),
    };
  }

  read(answers: readonly string[]): Reading {
    const texts = answers.map((answer) => answer.trim()).filter((answer) => answer !== "");
    const [first] = texts;
    const { type, default: preset } = this.#schema;
    if (first === undefined) {
      if (preset !== undefined && preset !== null) return { value: preset };
      return this.#isRequired ? { reason: "It has to be given." } : { value: undefined };
    }
    if (type === "boolean") return readBoolean(first);
    if (type === "number" || type === "integer") return readNumber(first, this.#schema);
    if (this.#choices.length === 0) return { value: type === "array" ? texts : first };
    const chosen = texts.map((text) =>
      this.#choices.find(({ label, value }) => label === text || value === text),
    );
    if (chosen.includes(undefined)) return { reason: "That is not one of the choices." };
    const values = chosen.flatMap((choice) => choice?.value ?? []);
    return { value: type === "array" ? values : values[0] };
  }
}

function choicesOf(schema: JsonObject) {
  const items = objectOf(schema.items);
  const titled = [...listOf(schema.oneOf), ...listOf(items.anyOf)].flatMap((each) => {
    const value = textOf(objectOf(each).const);
    return value === undefined ? [] : [{ label: short(textOf(objectOf(each).title) ?? value), value }];
  });
  if (titled.length > 0) return titled;
  const plain = [...listOf(schema.enum), ...listOf(items.enum)].flatMap((each) => textOf(each) ?? []);
  return plain.map((value) => ({ label: short(value), value }));
}

function readBoolean(answer: string): Reading {
  if (/^(yes|true|y)$/i.test(answer)) return { value: true };
  return /^(no|false|n)$/i.test(answer) ? { value: false } : { reason: "Answer Yes or No." };
}

function readNumber(answer: string, { type, minimum, maximum }: JsonObject): Reading {
  const value = Number(answer);
  if (!Number.isFinite(value)) return { reason: "It has to be a number." };
  if (type === "integer" && !Number.isInteger(value)) return { reason: "It has to be a whole number." };
  if (value < (numberOf(minimum) ?? value)) return { reason: `It has to be at least ${minimum}.` };
  if (value > (numberOf(maximum) ?? value)) return { reason: `It has to be at most ${maximum}.` };
  return { value };
}

/** The whole address is shown, as a browser would read it, so that the user sees where it leads. */
async function openAddress(url: string, introduction: string, ask: Ask): Promise<ElicitationAnswer> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = address?.protocol === "https:" || address?.protocol === "http:";
  // A name before the host makes one site look like another.
  if (address === undefined || !isWeb || address.username !== "" || address.href.length > LONGEST_ADDRESS)
    return DECLINED;
  const question = `${introduction}\nOpen this address on ${address.host}:\n${address.href}`;
  return choose(question, "Open an address", ["I opened it", "Decline"], ask);
}

async function confirm(introduction: string, ask: Ask): Promise<ElicitationAnswer> {
  const answer = await choose(introduction, "Confirm", ["Yes", "No"], ask);
  return answer.action === "accept" ? { ...answer, content: {} } : answer;
}

/** Anything but the first label is a no. */
async function choose(
  question: string,
  header: string,
  labels: readonly [string, string],
  ask: Ask,
): Promise<ElicitationAnswer> {
  const id = "answer";
  const answers = await ask([{ id, header, question, options: labels.map((label) => ({ label })) }]);
  const [text] = given(answers, id);
  if (text === undefined) return { action: "cancel" };
  return text.trim().toLowerCase() === labels[0].toLowerCase() ? { action: "accept" } : DECLINED;
}

function given(answers: Answers, id: string): readonly string[] {
  return Object.hasOwn(answers, id) ? (answers[id]?.answers ?? []) : [];
}

function short(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}
