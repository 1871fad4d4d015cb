import type { Answers, UserQuestion } from "@flint/protocol";

type Properties = Readonly<Record<string, unknown>>;

/** One field of a form that an MCP server wants filled in. */
interface Field {
  readonly name: string;
  readonly schema: Properties;
  readonly isRequired: boolean;
}

const MOST_FIELDS = 20;
const YES = "Yes";
const NO = "No";

/** A form of an MCP server as questions to the user. */
export class Form {
  readonly #fields: readonly Field[];

  /** Undefined if it is no form that can be asked. */
  static of(schema: unknown): Form | undefined {
    const { properties, required } = propertiesOf(schema);
    const names = new Set(Array.isArray(required) ? required : []);
    const fields = Object.entries(propertiesOf(properties)).map(
      ([name, field]): Field => ({ name, schema: propertiesOf(field), isRequired: names.has(name) }),
    );
    const isAskable = fields.every(({ schema: field }) => typeOf(field) !== "object");
    return fields.length <= MOST_FIELDS && isAskable ? new Form(fields) : undefined;
  }

  private constructor(fields: readonly Field[]) {
    this.#fields = fields;
  }

  /** A form without fields wants a plain yes or no. */
  questions(introduction: string): readonly UserQuestion[] {
    if (this.#fields.length === 0) {
      return [{ id: "answer", question: introduction, options: [{ label: YES }, { label: NO }] }];
    }
    return this.#fields.map((field, at) => questionOf(field, at === 0 ? introduction : ""));
  }

  /** What the answers mean; undefined if the user wants none of it or left out what is needed. */
  content(answers: Answers): Properties | undefined {
    if (this.#fields.length === 0) return answers.answer?.answers[0] === YES ? {} : undefined;
    const content: Record<string, unknown> = {};
    for (const { name, schema, isRequired } of this.#fields) {
      const texts = answers[name]?.answers ?? [];
      const value = fieldValue(schema, texts);
      if (value === undefined && isRequired) return undefined;
      if (value !== undefined) content[name] = value;
    }
    return content;
  }
}

function questionOf({ name, schema, isRequired }: Field, introduction: string): UserQuestion {
  const title = typeof schema.title === "string" ? schema.title : name;
  const description = typeof schema.description === "string" ? schema.description : title;
  const need = isRequired ? "" : " (may be left out)";
  const choices = typeOf(schema) === "boolean" ? [YES, NO] : choicesOf(schema).map(({ label }) => label);
  return {
    id: name,
    header: title,
    question: [introduction, `${description}${need}`].filter((text) => text !== "").join("\n"),
    ...(choices.length === 0 ? {} : { options: choices.map((label) => ({ label })) }),
    ...(typeOf(schema) === "array" ? { multiple: true } : {}),
  };
}

function fieldValue(schema: Properties, texts: readonly string[]): unknown {
  const chosen = texts.map((text) => choicesOf(schema).find(({ label }) => label === text)?.value ?? text);
  if (typeOf(schema) === "array") return chosen.length === 0 ? undefined : chosen;
  const [text] = chosen;
  if (text === undefined || text === "") return undefined;
  switch (typeOf(schema)) {
    case "boolean":
      return text === YES;
    case "number":
    case "integer":
      return Number.isFinite(Number(text)) ? Number(text) : undefined;
    default:
      return text;
  }
}

/** The values that a field offers, with what people read. */
function choicesOf(schema: Properties): readonly { readonly label: string; readonly value: string }[] {
  const { enum: plain, enumNames, oneOf, anyOf, items } = schema;
  if (items !== undefined) return choicesOf(propertiesOf(items));
  if (Array.isArray(plain)) {
    return plain.map((value, at) => ({
      label: String(Array.isArray(enumNames) ? (enumNames[at] ?? value) : value),
      value: String(value),
    }));
  }
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : [];
  return titled.map(propertiesOf).map((choice) => ({
    label: String(choice.title ?? choice.const),
    value: String(choice.const),
  }));
}

function typeOf(schema: Properties): unknown {
  return schema.type;
}

function propertiesOf(value: unknown): Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
