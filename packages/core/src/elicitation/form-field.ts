import { isId, isRecord, listOf, numberOf, stringOf, type UserQuestion } from "@flint/protocol";
import { displayText, truncate } from "../text/characters.ts";

/** A value that a form can carry. */
export type FieldValue = string | number | boolean | string[];

/**
 * The meaning of an answer: a value, nothing because the field is optional, or the reason why it is rejected.
 */
export type FieldAnswer = { readonly value: FieldValue | undefined } | { readonly reason: string };

type Schema = Readonly<Record<string, unknown>>;

interface Choice {
  readonly label: string;
  readonly value: string;
}

const MAX_CHOICES = 100;
const MAX_LABEL = 200;
const MAX_HEADER = 60;
const MAX_DESCRIPTION = 500;

/** One field of an MCP elicitation form, read from its JSON Schema without trusting it. */
export class FormField {
  readonly name: string;
  /** The id of its question. */
  readonly id: string;
  readonly #schema: Schema;
  readonly #isRequired: boolean;
  readonly #choices: readonly Choice[];

  constructor(name: string, position: number, schema: unknown, isRequired: boolean) {
    this.name = name;
    this.id = isId(name) && !name.startsWith("_") ? name : `field-${position}`;
    this.#schema = isRecord(schema) ? schema : {};
    this.#isRequired = isRequired;
    this.#choices = choicesIn(this.#schema);
  }

  /** Reports whether the user can be asked for it at all. */
  get isAskable(): boolean {
    return this.name !== "__proto__" && this.#choices.length <= MAX_CHOICES;
  }

  /** The question, after an introduction. No answer to it is treated as a secret. */
  question(introduction: string): UserQuestion {
    const { title, description, type } = this.#schema;
    const header = displayText(stringOf(title) ?? this.name, MAX_HEADER);
    const described = stringOf(description);
    const text = described === undefined ? header : `${header}: ${displayText(described, MAX_DESCRIPTION)}`;
    const labels = type === "boolean" ? ["Yes", "No"] : this.#choices.map(({ label }) => label);
    return {
      id: this.id,
      header,
      question: [introduction, `${text}${this.#hint()}`].filter((line) => line !== "").join("\n"),
      ...(labels.length === 0 ? {} : { options: labels.map((label) => ({ label })) }),
      ...(type === "array" ? { multiple: true } : {}),
    };
  }

  /** Reads the value that the user meant. */
  read(answers: readonly string[]): FieldAnswer {
    const texts = answers.map((answer) => answer.trim()).filter((answer) => answer !== "");
    const [first] = texts;
    if (first === undefined) return this.#missing();
    switch (this.#schema.type) {
      case "boolean":
        return readBoolean(first);
      case "number":
      case "integer":
        return readNumber(first, this.#schema);
      case "array":
        return this.#readList(texts);
      default:
        return this.#choices.length === 0 ? readString(first, this.#schema) : this.#readChoice(first);
    }
  }

  #missing(): FieldAnswer {
    const preset = defaultIn(this.#schema);
    if (preset !== undefined) return { value: preset };
    return this.#isRequired ? { reason: "An answer is required." } : { value: undefined };
  }

  #readChoice(answer: string): Choice | { readonly reason: string } {
    const choice = this.#choices.find(({ label, value }) => label === answer || value === answer);
    return choice ?? { reason: `"${truncate(answer, 50)}" is not one of the choices.` };
  }

  #readList(answers: readonly string[]): FieldAnswer {
    const values: string[] = [];
    for (const answer of answers) {
      const read = this.#choices.length === 0 ? { value: answer } : this.#readChoice(answer);
      if ("reason" in read) return read;
      values.push(read.value);
    }
    const { minItems, maxItems } = this.#schema;
    if (values.length < (numberOf(minItems) ?? 0)) return { reason: `Choose at least ${minItems}.` };
    if (values.length > (numberOf(maxItems) ?? Number.POSITIVE_INFINITY))
      return { reason: `Choose at most ${maxItems}.` };
    return { value: values };
  }

  #hint(): string {
    const preset = defaultIn(this.#schema);
    const hints = [
      ...typeHint(this.#schema),
      ...(preset === undefined ? [] : [`default ${displayText(String(preset), 100)}`]),
      ...(this.#isRequired || preset !== undefined ? [] : ["optional"]),
    ];
    return hints.length === 0 ? "" : ` (${hints.join(", ")})`;
  }
}

/** Choices with equal titles also show their values. */
function choicesIn(schema: Schema): Choice[] {
  const items = isRecord(schema.items) ? schema.items : {};
  const titled = [...listOf(schema.oneOf), ...listOf(items.anyOf)].flatMap((each) => {
    const value = isRecord(each) ? stringOf(each.const) : undefined;
    return value === undefined || !isRecord(each) ? [] : [{ value, title: stringOf(each.title) ?? value }];
  });
  const names = listOf(schema.enumNames);
  const plain = [...listOf(schema.enum), ...listOf(items.enum)].flatMap((each, at) => {
    const value = stringOf(each);
    return value === undefined ? [] : [{ value, title: stringOf(names[at]) ?? value }];
  });
  const choices = [...titled, ...plain].map(({ value, title }) => ({
    label: displayText(title, MAX_LABEL) || value,
    value,
  }));
  const isUnique = new Set(choices.map(({ label }) => label)).size === choices.length;
  if (isUnique) return choices;
  return choices.map(({ label, value }) => ({ label: `${label} (${truncate(value, MAX_LABEL)})`, value }));
}

function readBoolean(answer: string): FieldAnswer {
  if (/^(yes|true|y)$/i.test(answer)) return { value: true };
  return /^(no|false|n)$/i.test(answer) ? { value: false } : { reason: "Answer Yes or No." };
}

function readNumber(answer: string, { type, minimum, maximum }: Schema): FieldAnswer {
  const value = Number(answer);
  if (!Number.isFinite(value)) return { reason: `"${truncate(answer, 50)}" is not a number.` };
  if (type === "integer" && !Number.isInteger(value)) return { reason: "It must be a whole number." };
  if (value < (numberOf(minimum) ?? value)) return { reason: `It must be at least ${minimum}.` };
  if (value > (numberOf(maximum) ?? value)) return { reason: `It must be at most ${maximum}.` };
  return { value };
}

function readString(answer: string, { minLength, maxLength, format }: Schema): FieldAnswer {
  if (answer.length < (numberOf(minLength) ?? 0))
    return { reason: `It must have at least ${minLength} characters.` };
  if (answer.length > (numberOf(maxLength) ?? Infinity))
    return { reason: `It must have at most ${maxLength} characters.` };
  if (typeof format === "string" && !hasFormat(answer, format))
    return { reason: `"${truncate(answer, 50)}" is not a valid ${displayText(format, 50)}.` };
  return { value: answer };
}

function hasFormat(text: string, format: string): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text);
    case "uri":
      return URL.canParse(text);
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
    case "date-time":
      return !Number.isNaN(Date.parse(text));
    default:
      return true;
  }
}

function typeHint({ type, format, minimum, maximum }: Schema): string[] {
  if (type === "array") return ["choose any number"];
  if (type === "number" || type === "integer") {
    const from = numberOf(minimum) === undefined ? "" : ` from ${minimum}`;
    const to = numberOf(maximum) === undefined ? "" : ` up to ${maximum}`;
    return [`${type === "integer" ? "a whole number" : "a number"}${from}${to}`];
  }
  return typeof format === "string" ? [displayText(format, 50)] : [];
}

function defaultIn({ default: preset }: Schema): FieldValue | undefined {
  if (Array.isArray(preset)) return preset.filter((each) => typeof each === "string");
  return typeof preset === "string" || typeof preset === "number" || typeof preset === "boolean"
    ? preset
    : undefined;
}
