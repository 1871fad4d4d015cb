import { isRecord } from "@flint/protocol";
/** An object of a message whose fields are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

const EMPTY: JsonObject = {};

/** The value if it is an object, else an empty one: agents omit what they do not know, or send null. */
export function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? value : EMPTY;
}

/** The value if it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a string. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a finite number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A field of an object, if it is a string. */
export function stringField(value: unknown, name: string): string | undefined {
  return isRecord(value) ? stringOf(value[name]) : undefined;
}
