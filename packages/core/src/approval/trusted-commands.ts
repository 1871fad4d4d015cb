import { posix } from "node:path";
import { isReadingCall, READING_PROGRAMS, type Reading } from "./reading-programs.ts";
import { parseSimpleCommand } from "./simple-command.ts";

/**
 * Whether a command is known to only read: a known program, named without a path, with only options that are known to
 * be safe. Everything else is asked about, including whatever cannot be decided for sure.
 */
export function isTrustedCommand(command: string): boolean {
  const [program = "", ...words] = parseSimpleCommand(command) ?? [];
  if (isReadingCall(program, words)) return true;
  const reading = Object.hasOwn(READING_PROGRAMS, program) ? READING_PROGRAMS[program] : undefined;
  return reading !== undefined && keepsTo(reading, words);
}

function keepsTo(reading: Reading, words: readonly string[]): boolean {
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
function isHarmless({ words }: Reading, word: string): boolean {
  return word !== "-" && !isOfKernel(word) && (words === undefined || words.test(word));
}

/** Always empty. */
const NOTHING = "/dev/null";

/** Kernel file systems, also reached through parent folders from any working directory. */
const OF_KERNEL = /^(?:\/|(?:\.\.\/)+)(?:dev|proc|sys)(?:\/|$)/;

/** Endless files, for a command that runs in the root folder. */
const ENDLESS =
  /^(?:dev\/(?:zero|full|u?random|tty|console|stdin|fd|kmsg|ptmx|pts)|proc\/(?:kmsg|self))(?:\/|$)/;

function isOfKernel(word: string): boolean {
  const path = posix.normalize(word).replace(/^\/+/, "/");
  return path !== NOTHING && (OF_KERNEL.test(path) || ENDLESS.test(path));
}
