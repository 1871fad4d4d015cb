import { lazy } from "@flint/protocol";

/** What is longer than this is not judged by its words; a person looks at it. */
const LONGEST = 2000;
const MOST_WORDS = 100;

/**
 * A piece of a word: a sign that no shell gives a meaning to, or a quotation in which nothing is expanded. Quotations
 * hold what can be seen: no control, no invisible character, no space but the ordinary one. Each text has one way
 * to be read as pieces, so that no text takes long to be refused.
 */
const PLAIN = "[A-Za-z0-9_.,:@%+/=-]";
const VISIBLE = "[ \\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]";
const SINGLE = `'(?:(?!')${VISIBLE})*'`;
const DOUBLE = `"(?:(?!["$\`\\\\!])${VISIBLE})*"`;
const PIECE = `${PLAIN}|${SINGLE}|${DOUBLE}`;

/** To look up every letter there is takes so long that a start would show it. */
const patterns = lazy(() => ({
  command: new RegExp(`^ *(?:${PIECE})+(?: +(?:${PIECE})+)* *$`, "u"),
  words: new RegExp(`(?:${PIECE})+`, "gu"),
  pieces: new RegExp(PIECE, "gu"),
}));

/** What begins something else than a program with arguments. */
const RESERVED: ReadonlySet<string> = new Set(
  "case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/**
 * The words that a shell would make of a command, or undefined for every command in which a shell would do more
 * than split it into words: expansions, redirections, chains, assignments, escapes, and whatever is not known.
 */
export function parseSimpleCommand(command: string): readonly string[] | undefined {
  if (command.length > LONGEST || !patterns().command.test(command)) return undefined;
  const words = command.match(patterns().words) ?? [];
  if (words.length > MOST_WORDS || words.some(hasMeaning)) return undefined;
  const [program = "", ...rest] = words.map(unquoted);
  if (program === "" || program.includes("=") || RESERVED.has(program)) return undefined;
  return [program, ...rest];
}

/** Some shells look up what follows an equals sign at the beginning of a word. */
function hasMeaning(word: string): boolean {
  return word.startsWith("=");
}

function unquoted(word: string): string {
  const pieces = word.match(patterns().pieces) ?? [];
  return pieces.map((piece) => (/^['"]/.test(piece) ? piece.slice(1, -1) : piece)).join("");
}
