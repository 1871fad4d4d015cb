/** What was pressed: a character that can be typed, or one of the keys that mean something here. */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "enter" | "backspace" | "clear" | "escape" | "interrupt" | "end" | "suspend" };

/** What a byte of a key means here. Others have no meaning and are dropped. */
const CONTROLS: Readonly<Record<string, Exclude<Key["type"], "text">>> = {
  "\r": "enter",
  "\n": "enter",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u0015": "clear",
  "\u0003": "interrupt",
  "\u0004": "end",
  "\u001a": "suspend",
  "\u001b": "escape",
};

/** An arrow, a function key, a paste bracket or another answer of the terminal: one key, and none of ours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write keys like this
const SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O.|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[^[\]O\u001b])/u;

/** The keys in what a terminal in raw mode has sent. */
export function readKeys(chunk: string): Key[] {
  const keys: Key[] = [];
  for (let rest = chunk; rest !== ""; ) {
    const [sequence] = SEQUENCE.exec(rest) ?? [];
    const taken = sequence ?? String.fromCodePoint(rest.codePointAt(0) ?? 0);
    rest = rest.slice(taken.length);
    const control = CONTROLS[taken];
    if (control !== undefined) keys.push({ type: control });
    else if (sequence === undefined && taken >= " ") keys.push({ type: "text", text: taken });
  }
  return keys;
}
