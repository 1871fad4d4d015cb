import { lazy } from "@flint/protocol";

/** Longer commands are not parsed; the user decides about them. */
const MAX_LENGTH = 2000;
const MAX_WORDS = 100;

/**
 * A piece of a word: a character without meaning to any shell, or a quotation in which nothing is expanded. Quotations
 * contain visible characters only, and no blank but the space. Each text has a single reading as pieces, so that
 * matching never backtracks for long.
 */
const PLAIN = "[A-Za-z0-9_.,:@%+/=-]";
const VISIBLE = "[ \\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]";
const SINGLE = `'(?:(?!')${VISIBLE})*'`;
const DOUBLE = `"(?:(?!["$\`\\\\!])${VISIBLE})*"`;
const PIECE = `${PLAIN}|${SINGLE}|${DOUBLE}`;

/** Compiled on first use: expanding the Unicode classes would slow down the start. */
const patterns = lazy(() => ({
  command: new RegExp(`^ *(?:${PIECE})+(?: +(?:${PIECE})+)* *$`, "u"),
  words: new RegExp(`(?:${PIECE})+`, "gu"),
  pieces: new RegExp(PIECE, "gu"),
}));

/** Words that start something other than a program with arguments. */
const RESERVED: ReadonlySet<string> = new Set(
  "case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/**
 * The words of a command as a shell splits it; undefined for any command in which a shell would do more than that:
 * expansions, redirections, chains, assignments, escapes, and anything unknown.
 */
export function parseSimpleCommand(command: string): readonly string[] | undefined {
  if (command.length > MAX_LENGTH || !patterns().command.test(command)) return undefined;
  const words = command.match(patterns().words) ?? [];
  if (words.length > MAX_WORDS || words.some(hasMeaning)) return undefined;
  const [program = "", ...rest] = words.map(unquoted);
  if (program === "" || program.includes("=") || RESERVED.has(program)) return undefined;
  return [program, ...rest];
}

/** Some shells expand a word that starts with an equals sign. */
function hasMeaning(word: string): boolean {
  return word.startsWith("=");
}

function unquoted(word: string): string {
  const pieces = word.match(patterns().pieces) ?? [];
  return pieces.map((piece) => (/^['"]/.test(piece) ? piece.slice(1, -1) : piece)).join("");
}

/** Words that a shell reads as themselves. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A string as one word of a POSIX shell command, quoted only where it has to be. */
export function shellQuote(word: string): string {
  return PLAIN_WORD.test(word) ? word : singleQuote(word);
}

/** A string as one word of a POSIX shell command, always in single quotes. */
export function singleQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
