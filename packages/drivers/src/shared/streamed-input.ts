/** A piece of a string in the input of a tool, with the name of its field. */
export interface FieldPiece {
  readonly field: string;
  readonly text: string;
}

/** State of reading the JSON of an input. */
export interface InputScan {
  readonly depth: number;
  /** Inside of a string: of a field's name, of its value, or of anything else. */
  readonly inside: "name" | "value" | "other" | undefined;
  /** True if a colon came after the name of the field. */
  readonly isValue: boolean;
  readonly field: string;
  /** The part of an escape sequence that was read, from its backslash on. */
  readonly escaped: string;
}

/** Nothing was read yet. */
export const NO_INPUT: InputScan = { depth: 0, inside: undefined, isValue: false, field: "", escaped: "" };

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/**
 * Reads the next part of a JSON object that is still being written, and returns the strings among its fields as far as
 * they go. Nested values are skipped. Malformed JSON gives malformed pieces: the whole input follows anyway.
 */
export function scanInput(scan: InputScan, json: string): readonly [InputScan, readonly FieldPiece[]] {
  let { depth, inside, isValue, field, escaped } = scan;
  const pieces: FieldPiece[] = [];
  let text = "";
  const flush = () => {
    if (inside === "value" && text !== "") pieces.push({ field, text });
    else if (inside === "name") field += text;
    text = "";
  };
  for (const character of json) {
    if (inside === undefined) {
      if (character === '"') {
        inside = depth !== 1 ? "other" : isValue ? "value" : "name";
        if (inside === "name") field = "";
      } else if (character === "{" || character === "[") depth += 1;
      else if (character === "}" || character === "]") depth -= 1;
      else if (character === ":" && depth === 1) isValue = true;
      else if (character === "," && depth === 1) isValue = false;
    } else if (escaped !== "") {
      escaped += character;
      const decoded = decodeEscape(escaped);
      if (decoded === undefined) continue;
      text += decoded;
      escaped = "";
    } else if (character === "\\") escaped = character;
    else if (character === '"') {
      flush();
      inside = undefined;
    } else text += character;
  }
  flush();
  return [{ depth, inside, isValue, field, escaped }, pieces];
}

/** The character of an escape sequence; undefined until it is complete. */
function decodeEscape(escaped: string): string | undefined {
  if (escaped[1] !== "u") return ESCAPES[escaped[1] ?? ""] ?? escaped[1];
  if (escaped.length < 6) return undefined;
  // The halves of a pair come one after the other; a lone one is repaired where the text is stored.
  return String.fromCharCode(Number.parseInt(escaped.slice(2), 16));
}
