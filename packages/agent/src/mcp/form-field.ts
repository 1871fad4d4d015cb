import { isId, type UserQuestion } from "@flint/protocol";
import type { PrimitiveSchemaDefinition } from "@modelcontextprotocol/client";
import { cut, plain } from "./bounded-json.ts";

/** A value that a form can carry. */
export type FieldValue = string | number | boolean | string[];

/** What an answer means: a value, nothing because it need not be given, or why it cannot be taken. */
export type Reading =
  | { readonly ok: true; readonly value: FieldValue | undefined }
  | { readonly ok: false; readonly reason: string };

interface Choice {
  readonly label: string;
  readonly value: string;
}

const MOST_CHOICES = 100;
const LONGEST_LABEL = 200;
const LONGEST_HEADER = 60;
const LONGEST_DESCRIPTION = 500;
const YES = "Yes";
const NO = "No";

/** One field of a form that a server wants filled in. */
export class FormField {
  readonly name: string;
  readonly id: string;
  readonly #schema: PrimitiveSchemaDefinition;
  readonly #isRequired: boolean;
  readonly #choices: readonly Choice[];

  constructor(name: string, place: number, schema: PrimitiveSchemaDefinition, isRequired: boolean) {
    this.name = name;
    this.id = isId(name) && !name.startsWith("_") ? name : `field-${place}`;
    this.#schema = schema;
    this.#isRequired = isRequired;
    this.#choices = choicesOf(schema);
  }

  /** Whether the user can be asked for it at all. */
  get isAskable(): boolean {
    return this.name !== "__proto__" && this.#choices.length <= MOST_CHOICES;
  }

  /** The question, with what has to be said before it. Nothing asked here is ever treated as a secret. */
  question(introduction: string): UserQuestion {
    const { title, description } = this.#schema;
    const header = plain(title ?? this.name, LONGEST_HEADER);
    const told = description === undefined ? header : `${header}: ${plain(description, LONGEST_DESCRIPTION)}`;
    const question = [introduction, `${told}${this.#hint()}`].filter((line) => line !== "").join("\n");
    const labels = this.#schema.type === "boolean" ? [YES, NO] : this.#choices.map(({ label }) => label);
    return {
      id: this.id,
      header,
      question,
      ...(labels.length === 0 ? {} : { options: labels.map((label) => ({ label })) }),
      ...(this.#schema.type === "array" ? { multiple: true } : {}),
    };
  }

  /** The value that the user meant. */
  read(answers: readonly string[]): Reading {
    const given = answers.map((answer) => answer.trim()).filter((answer) => answer !== "");
    const [first] = given;
    if (first === undefined) return this.#missing();
    switch (this.#schema.type) {
      case "boolean":
        return readBoolean(first);
      case "number":
      case "integer":
        return readNumber(first, this.#schema);
      case "array":
        return this.#readList(given, this.#schema);
      case "string":
        return this.#choices.length === 0 ? readText(first, this.#schema) : this.#readChoice(first);
    }
  }

  #missing(): Reading {
    const { default: preset } = this.#schema;
    if (preset !== undefined) return { ok: true, value: preset };
    return this.#isRequired ? wrong("It has to be given.") : { ok: true, value: undefined };
  }

  #readChoice(answer: string): Reading {
    const choice = this.#choices.find(({ label, value }) => label === answer || value === answer);
    return choice === undefined
      ? wrong(`"${cut(answer, 50)}" is not one of the choices.`)
      : { ok: true, value: choice.value };
  }

  #readList(
    answers: readonly string[],
    { minItems, maxItems }: { minItems?: number | undefined; maxItems?: number | undefined },
  ): Reading {
    const values: string[] = [];
    for (const answer of answers) {
      const read = this.#readChoice(answer);
      if (!read.ok) return read;
      if (typeof read.value === "string") values.push(read.value);
    }
    if (minItems !== undefined && values.length < minItems) return wrong(`Choose at least ${minItems}.`);
    if (maxItems !== undefined && values.length > maxItems) return wrong(`Choose at most ${maxItems}.`);
    return { ok: true, value: values };
  }

  #hint(): string {
    const { default: preset } = this.#schema;
    const usual = preset === undefined ? [] : [`usually ${plain(String(preset), 100)}`];
    const optional = this.#isRequired || preset !== undefined ? [] : ["may be left empty"];
    const hints = [...kindHint(this.#schema), ...usual, ...optional];
    return hints.length === 0 ? "" : ` (${hints.join(", ")})`;
  }
}

function choicesOf(schema: PrimitiveSchemaDefinition): Choice[] {
  const raw = rawChoices(schema).map(({ title, value }) => ({
    label: plain(title, LONGEST_LABEL) || value,
    value,
  }));
  const isUnique = new Set(raw.map(({ label }) => label)).size === raw.length;
  return isUnique
    ? raw
    : raw.map(({ label, value }) => ({ label: `${label} (${cut(value, LONGEST_LABEL)})`, value }));
}

function rawChoices(schema: PrimitiveSchemaDefinition): { title: string; value: string }[] {
  if (schema.type === "array") {
    if ("anyOf" in schema.items)
      return schema.items.anyOf.map(({ const: value, title }) => ({ title, value }));
    return schema.items.enum.map((value) => ({ title: value, value }));
  }
  if ("oneOf" in schema) return schema.oneOf.map(({ const: value, title }) => ({ title, value }));
  if (!("enum" in schema)) return [];
  const names = "enumNames" in schema ? schema.enumNames : undefined;
  return schema.enum.map((value, at) => ({ title: names?.[at] ?? value, value }));
}

function readBoolean(answer: string): Reading {
  if (/^(yes|true|y)$/i.test(answer)) return { ok: true, value: true };
  if (/^(no|false|n)$/i.test(answer)) return { ok: true, value: false };
  return wrong(`Answer ${YES} or ${NO}.`);
}

type NumberSchema = Extract<PrimitiveSchemaDefinition, { type: "number" | "integer" }>;

function readNumber(answer: string, { type, minimum, maximum }: NumberSchema): Reading {
  const value = Number(answer);
  if (!Number.isFinite(value)) return wrong(`"${cut(answer, 50)}" is no number.`);
  if (type === "integer" && !Number.isInteger(value)) return wrong("It has to be a whole number.");
  if (minimum !== undefined && value < minimum) return wrong(`It has to be at least ${minimum}.`);
  if (maximum !== undefined && value > maximum) return wrong(`It has to be at most ${maximum}.`);
  return { ok: true, value };
}

interface TextSchema {
  readonly type: "string";
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: string | undefined;
}

function readText(answer: string, { minLength, maxLength, format }: TextSchema): Reading {
  if (minLength !== undefined && answer.length < minLength)
    return wrong(`At least ${minLength} characters are needed.`);
  if (maxLength !== undefined && answer.length > maxLength)
    return wrong(`At most ${maxLength} characters are taken.`);
  if (format !== undefined && !hasFormat(answer, format))
    return wrong(`"${cut(answer, 50)}" is no ${format}.`);
  return { ok: true, value: answer };
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

function kindHint(schema: PrimitiveSchemaDefinition): string[] {
  switch (schema.type) {
    case "number":
    case "integer": {
      const { type, minimum, maximum } = schema;
      const range = [
        minimum === undefined ? "" : `from ${minimum}`,
        maximum === undefined ? "" : `up to ${maximum}`,
      ];
      const kind = type === "integer" ? "a whole number" : "a number";
      return [[kind, ...range].filter((part) => part !== "").join(" ")];
    }
    case "string":
      return "format" in schema && schema.format !== undefined ? [schema.format] : [];
    case "array":
      return ["several may be chosen"];
    case "boolean":
      return [];
  }
}

function wrong(reason: string): Reading {
  return { ok: false, reason };
}
