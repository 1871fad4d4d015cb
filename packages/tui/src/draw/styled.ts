import { pathToFileURL } from "node:url";
import { type Line, type Span, type Style, textOf } from "./line.ts";
import type { Links } from "./render-options.ts";

/** Only the sixteen colours, which every theme of a terminal keeps readable. */
const CODES: Readonly<Record<Style, string>> = {
  bold: "1",
  dim: "2",
  italic: "3",
  boldItalic: "1;3",
  underline: "4",
  inverse: "7",
  struck: "9",
  red: "31",
  green: "32",
  yellow: "33",
  blue: "34",
  magenta: "35",
  cyan: "36",
  boldCyan: "1;36",
};

/** Yellow cannot be read on a light background. */
const LIGHT_CODES: Readonly<Record<Style, string>> = { ...CODES, yellow: "35" };

// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be in a line
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;

/**
 * Text as it is written to a terminal. What others wrote is escaped where it becomes part of a line; a control character
 * that still gets here is replaced by a question mark, so that nothing can steer the terminal.
 */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, "?");
}

/** The line as it is written to a terminal. */
export function styled(line: Line, colour: boolean, isLight = false): string {
  if (!colour) return withoutControls(textOf(line));
  let written = "";
  for (let at = 0; at < line.length; ) {
    const { style, link }: Omit<Span, "text"> = line[at] ?? {};
    let text = "";
    // Pieces of the same style that follow each other are one.
    for (; at < line.length && line[at]?.style === style && line[at]?.link === link; at += 1)
      text += line[at]?.text ?? "";
    text = withoutControls(text);
    const shown = style === undefined ? text : withStyle(text, isLight ? LIGHT_CODES[style] : CODES[style]);
    written += link === undefined ? shown : withLink(shown, link);
  }
  return written;
}

function withStyle(text: string, code: string): string {
  return text === "" ? "" : `\u001b[${code}m${text}\u001b[0m`;
}

/** Characters of an address that cannot end the sequence it is written in. */
const PRINTABLE = /^[\x21-\x7e]+$/;

/** A link that the terminal follows (OSC 8). The address is checked once more, where it is written. */
function withLink(text: string, link: string): string {
  return PRINTABLE.test(link) ? `\u001b]8;;${link}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/** Longer addresses are not followed by terminals. */
const MAX_LINK = 2_000;

/**
 * Returns the target of a link, safe to be written to a terminal: a page on the web, or a file of this
 * machine, by its address or its absolute path. Undefined for everything else, such as a file that another
 * host would be asked for.
 */
export function linkTarget(address: string, { host }: Links): string | undefined {
  const isPath = address.startsWith("/");
  if (!isPath && !URL.canParse(address)) return undefined;
  const url = isPath ? pathToFileURL(address) : new URL(address);
  if (url.protocol === "file:") {
    if (url.host !== "" && url.host !== host.toLowerCase()) return undefined;
    url.host = host;
  } else if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  return url.href.length <= MAX_LINK && PRINTABLE.test(url.href) ? url.href : undefined;
}
