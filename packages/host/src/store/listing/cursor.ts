import { FlintError } from "@flint/protocol";

/** Makes an opaque place in a list out of any JSON value. */
export function encodeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

/** The value of a cursor, or undefined if it is not one. */
export function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    // Not one of ours.
    return undefined;
  }
}

/** A cursor that no page of this list gave out. */
export function invalidCursor(): FlintError {
  const message = "The cursor is not valid for this list; leave it out to start at the first page.";
  return new FlintError("invalidParams", message, { field: "cursor" });
}
