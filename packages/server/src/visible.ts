const KEPT: Readonly<Record<string, string>> = { "\n": "\n", "\t": "\t" };

/**
 * Text from an agent, made safe for a terminal: control characters, escape sequences and characters that turn the
 * writing direction or cannot be seen are shown by their number instead of being obeyed.
 */
export function visible(text: string): string {
  return text.replace(/\r(?=\n)/g, "").replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach the terminal
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (character) => KEPT[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}
