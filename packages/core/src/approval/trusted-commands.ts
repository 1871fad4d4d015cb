import { posix } from "node:path";
import { parseSimpleCommand } from "../text/shell-words.ts";

/**
 * Reports whether a command is known to only read: a known program, named without a path, with only options
 * that are known to be safe. Everything else is asked about, including all that cannot be decided for sure.
 */
export function isTrustedCommand(command: string): boolean {
  const [program = "", ...words] = parseSimpleCommand(command) ?? [];
  if (isExactReadOnlyCall(program, words)) return true;
  const reading = Object.hasOwn(READ_ONLY_PROGRAMS, program) ? READ_ONLY_PROGRAMS[program] : undefined;
  return reading !== undefined && isReadingCall(reading, words);
}

/** Reports whether a program that is called with these words only reads, and every option is a known one. */
export function isReadingCall(reading: ReadOnlyCall, words: readonly string[]): boolean {
  const others: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--" && reading.plainDashes !== true) {
      others.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith("-")) {
      others.push(word);
    } else if (reading.valued?.test(word) === true) {
      at += 1;
      if (at === words.length) return false;
    } else if (reading.options?.test(word) !== true) {
      return false;
    }
  }
  return (
    others.length <= (reading.most ?? others.length) && others.every((word) => isHarmless(reading, word))
  );
}

/** A lone dash reads stdin, which never comes; kernel files may never end. */
function isHarmless({ words }: ReadOnlyCall, word: string): boolean {
  return word !== "-" && !isKernelFile(word) && (words === undefined || words.test(word));
}

/** Always empty. */
const EMPTY_FILE = "/dev/null";

/** Kernel file systems, also reached through parent folders from any working directory. */
const KERNEL_FILE = /^(?:\/|(?:\.\.\/)+)(?:dev|proc|sys)(?:\/|$)/;

/** Endless files, for a command that runs in the root folder. */
const ENDLESS =
  /^(?:dev\/(?:zero|full|u?random|tty|console|stdin|fd|kmsg|ptmx|pts)|proc\/(?:kmsg|self))(?:\/|$)/;

function isKernelFile(word: string): boolean {
  const path = posix.normalize(word).replace(/^\/+/, "/");
  return path !== EMPTY_FILE && (KERNEL_FILE.test(path) || ENDLESS.test(path));
}

/** The calls of a program that only read. Anything not listed is not allowed. */
export interface ReadOnlyCall {
  /** Options without a value, as whole words. */
  readonly options?: RegExp;
  /** Options whose value is the next word. */
  readonly valued?: RegExp;
  /** Pattern of the other words; any word matches if absent. */
  readonly words?: RegExp;
  /** Maximum number of other words; unlimited if absent. */
  readonly most?: number;
  /** Two dashes do not end its options. */
  readonly plainDashes?: true;
}

const NONE: ReadOnlyCall = { options: /^$/, most: 0 };
const COUNT = "[0-9]{1,9}";

/**
 * Programs that only read with exactly these words. Anything git does with the content of a repository may start
 * programs that the repository names; these calls only look up names.
 */
const EXACT_WORDS: Readonly<Record<string, RegExp>> = {
  git: /^(?:branch --show-current|remote|remote -v|rev-parse --(?:show-toplevel|show-prefix|git-dir|is-inside-work-tree)|rev-parse --abbrev-ref HEAD)$/,
  node: /^(?:-v|--version)$/,
  npm: /^(?:-v|--version)$/,
  python3: /^(?:-V|--version)$/,
};

/**
 * Programs that only read when called like this. Left out on purpose: everything that runs other programs (env, xargs,
 * find -exec, rg --pre, sort --compress-program, file -z, diff -l), writes (sort -o, uniq with two files, tree -o, find
 * -fprint), waits (tail -f), or takes its arguments from a file (wc --files0-from).
 */
export const READ_ONLY_PROGRAMS: Readonly<Record<string, ReadOnlyCall>> = {
  basename: { options: /^$/ },
  cat: { options: /^-[AbeEnstTuv]+$/ },
  cmp: { options: /^-[bls]+$/, most: 2 },
  comm: { options: /^-[123]+$/, most: 2 },
  cut: { options: /^(?:-s|-[bcf][0-9,-]+|-d.|--complement)$/, valued: /^-[bcdf]$/ },
  date: { options: /^-[IRu]+$/, words: /^\+/, most: 1, plainDashes: true },
  df: { options: /^-[ahiT]+$/ },
  diff: { options: new RegExp(`^(?:-[abBdEiNpqrstuwyZ]+|-U${COUNT})$`), valued: /^-U$/, most: 2 },
  dirname: { options: /^$/ },
  du: { options: new RegExp(`^(?:-[abchksx]+|-d${COUNT}|--max-depth=${COUNT})$`), valued: /^-d$/ },
  echo: { options: /^-n$/, plainDashes: true },
  false: NONE,
  file: { options: /^-[bhiL]+$/ },
  find: {
    options:
      /^-(?:[HLP]|a|and|depth|empty|executable|follow|ls|mount|not|o|or|print0?|prune|readable|true|false|writable|xdev)$/,
    valued:
      /^-(?:amin|atime|cmin|ctime|group|iname|ipath|iregex|iwholename|links|maxdepth|mindepth|mmin|mtime|name|newer|path|perm|regex|size|type|user|wholename)$/,
    plainDashes: true,
  },
  grep: {
    options: new RegExp(
      `^(?:-[abcEFGHhIiLlnoPqRrsvwxyZz]+|-${COUNT}|-[ABCm]${COUNT}|--(?:include|exclude|exclude-dir)=.+|--colou?r=(?:never|auto|always)|--(?:count|extended-regexp|files-with-matches|files-without-match|fixed-strings|ignore-case|invert-match|line-number|no-messages|only-matching|perl-regexp|quiet|recursive|with-filename|no-filename|word-regexp))$`,
    ),
    valued: /^-[ABCem]$/,
  },
  groups: NONE,
  head: { options: new RegExp(`^-(?:[nc]?${COUNT}|[nc]-${COUNT}|[qv])$`), valued: /^-[nc]$/ },
  id: { options: /^-[Ggnru]+$/ },
  ls: {
    options:
      /^(?:-[AaBCcdFfGghiklLmNnopQqRrSsTtUuvXxZ1]+|--(?:all|almost-all|recursive|reverse|human-readable|full-time|classify|directory|group-directories-first)|--colou?r=(?:never|auto|always)|--sort=[a-z]+|--time=[a-z]+)$/,
  },
  md5sum: { options: /^$/ },
  nl: { options: /^-b[atn]$/ },
  nproc: NONE,
  pwd: { options: /^-[LP]$/, most: 0 },
  readlink: { options: /^-[efmnz]+$/ },
  realpath: { options: /^-[emsz]+$/ },
  rg: {
    options: new RegExp(
      `^(?:-[0.acFHIiLlNnoPqSsUuvwx]+|-[ABCm]${COUNT}|-[gtT].+|--(?:glob|iglob|type|type-not|max-count|max-depth|max-columns|context|after-context|before-context|sort|regexp)=.+|--colou?r=(?:never|auto|always)|--(?:column|count|count-matches|files|files-with-matches|files-without-match|fixed-strings|follow|heading|hidden|ignore-case|invert-match|json|line-number|multiline|no-filename|no-heading|no-ignore|no-line-number|no-messages|only-matching|pcre2|quiet|smart-case|stats|trim|type-list|version|vimgrep|with-filename|word-regexp))$`,
    ),
    valued: /^(?:-[ABCegmtT]|--(?:glob|iglob|type|type-not|max-count|max-depth|context|sort|regexp))$/,
  },
  sha1sum: { options: /^$/ },
  sha256sum: { options: /^$/ },
  sort: { options: /^(?:-[bdfghiMnRrsuVz]+|-k[0-9.,bdfghiMnRrV]+|-t.)$/, valued: /^-[kt]$/ },
  stat: { options: /^(?:-[Lft]+|--format=.+)$/, valued: /^-c$/ },
  tail: { options: new RegExp(`^-(?:[nc]?\\+?${COUNT}|[qv])$`), valued: /^-[nc]$/ },
  tree: {
    options: new RegExp(`^(?:-[aADdfghipQrstu]+|-L${COUNT}|--dirsfirst|--noreport)$`),
    valued: /^-[LIP]$/,
  },
  true: NONE,
  uname: { options: /^-[aimnoprsv]+$/, most: 0 },
  uniq: { options: /^-[cdiu]+$/, most: 1 },
  uptime: NONE,
  wc: { options: /^-[clLmw]+$/ },
  which: { options: /^-a$/ },
  whoami: NONE,
};

/** Reports whether a program only reads when called with exactly these words. */
export function isExactReadOnlyCall(program: string, words: readonly string[]): boolean {
  const known = Object.hasOwn(EXACT_WORDS, program) ? EXACT_WORDS[program] : undefined;
  return known?.test(words.join(" ")) === true && words.every((word) => !word.includes(" "));
}
