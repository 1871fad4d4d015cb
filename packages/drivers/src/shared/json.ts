import { isRecord, stringOf } from "@flint/protocol";
/** An object of a message whose fields are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

const EMPTY: JsonObject = {};

/** The value if it is an object, else an empty one: agents omit what they do not know, or send null. */
export function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? value : EMPTY;
}

/** A field of an object, if it is a string. */
export function stringField(value: unknown, name: string): string | undefined {
  return isRecord(value) ? stringOf(value[name]) : undefined;
}
