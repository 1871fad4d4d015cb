import { valueFitting } from "../intents/json-answer.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The plan in the fields of the caller: each step has a text, a status, and whatever else is insisted on. */
export function planInput(input: Fields, field: string, properties: Fields): Fields {
  const item = itemSchema(properties[field]);
  const known = fieldsOf(item);
  const textName =
    ["step", "content", "description", "title", "text"].find((name) => name in known) ?? "step";
  const plan = listOf(input.plan).map((entry, index) => {
    const step = String(entry.step);
    const own = { [textName]: step, status: entry.status };
    return { ...required(item, own, step, index), ...own };
  });
  const explanation = "explanation" in properties ? { explanation: input.explanation } : {};
  return { ...explanation, [field]: plan };
}

/** Without answers to choose from, these are what a caller that insists on some is given. */
const PLAIN_CHOICES = [{ label: "Yes" }, { label: "No" }];

/** Questions in the fields of the caller. */
export function questionInput(input: Fields, field: string, properties: Fields): Fields {
  const item = itemSchema(properties[field]);
  const known = fieldsOf(item);
  const questions = listOf(input.questions).map((entry, index) => {
    const question = String(entry.question);
    const choices = listOf(entry.options);
    const all: Fields = {
      id: entry.id,
      question,
      header: question.replace(/\?$/, "").slice(0, 12),
      options: (choices.length === 0 ? PLAIN_CHOICES : choices).map(({ label }) =>
        choice(label, known.options),
      ),
    };
    const own = Object.fromEntries(Object.entries(all).filter(([name]) => name in known));
    return { ...required(item, own, question, index), ...own };
  });
  return { [field]: questions };
}

function choice(label: unknown, options: unknown): Fields {
  const own = { label };
  return { ...required(itemSchema(options), own, String(label), 0), ...own };
}

/** What the schema of an item insists on beside what is there. */
function required(item: Fields, own: Fields, text: string, index: number): Fields {
  const names = Array.isArray(item.required) ? item.required.map(String) : [];
  const known = fieldsOf(item);
  return Object.fromEntries(
    names
      .filter((name) => !(name in own))
      .map((name) => [name, name === "id" ? String(index + 1) : fittingValue(known[name], text)]),
  );
}

function fittingValue(schema: unknown, text: string): unknown {
  if (!isFields(schema)) return text;
  return schema.type === "boolean" ? false : valueFitting(schema, text);
}

function itemSchema(list: unknown): Fields {
  return isFields(list) && isFields(list.items) ? list.items : {};
}

function fieldsOf(schema: Fields): Fields {
  return isFields(schema.properties) ? schema.properties : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
