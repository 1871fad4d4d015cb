/**
 * Commands that only read, with the options that keep them so. Everything that is not plainly one of these is
 * asked about: any shell syntax, any path to a program, any option that is not listed.
 */
const TRUSTED: Readonly<Record<string, RegExp>> = {
  cat: /^-[nbsAET]+$/,
  date: /^(-[uIR]|\+.*)$/,
  du: /^-[hsab]+$/,
  echo: /^$/,
  false: /^$/,
  head: /^(-[nc]\d+|-\d+|-[nc])$/,
  id: /^-[ugnGr]+$/,
  ls: /^-[AaBCdFfgGhikLlmNnopQqRrSstUuvXx1]+$/,
  nl: /^-[a-z]+$/,
  pwd: /^-[LP]$/,
  stat: /^-[Lft]+$/,
  tail: /^(-[nc]\d+|-\d+|-[nc])$/,
  true: /^$/,
  uname: /^-[asnrvmpio]+$/,
  wc: /^-[lwcmL]+$/,
  which: /^-a$/,
  whoami: /^$/,
};

/** Those where a word that is no option changes something: `date 01020304` sets the clock. */
const WITHOUT_PLAIN_WORDS: ReadonlySet<string> = new Set(["date"]);

/** Words of letters, digits and the signs of file names, between single spaces: nothing a shell gives a meaning to. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_.-]*( [A-Za-z0-9_.,:@%+/=-]+)*$/;

/** Whether a command is plainly one that only reads. */
export function isTrustedCommand(command: string): boolean {
  if (!PLAIN.test(command)) return false;
  const [program = "", ...words] = command.split(" ");
  if (!Object.hasOwn(TRUSTED, program)) return false;
  const allowed = TRUSTED[program];
  const isPlain = (word: string) => !word.startsWith("-") && !WITHOUT_PLAIN_WORDS.has(program);
  return words.every((word) => isPlain(word) || allowed?.test(word) === true);
}
