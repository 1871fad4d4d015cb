import { posix } from "node:path";
import { isReadingCall, READING_PROGRAMS, type Reading } from "./reading-programs.ts";
import { parseSimpleCommand } from "./simple-command.ts";

/**
 * Whether a command is plainly one that only reads: the name of a known program without a path, and only options
 * that are known to keep it so. Everything else is asked about, and so is whatever cannot be told for sure.
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

/** A dash alone means what is typed in, for which nobody would wait; what the kernel makes up may never end. */
function isHarmless({ words }: Reading, word: string): boolean {
  return word !== "-" && !isOfKernel(word) && (words === undefined || words.test(word));
}

/** Nothing is read from there, and nothing is waited for. */
const NOTHING = "/dev/null";

/** Where the kernel shows itself, also by way of the folders above, whichever one the command runs in. */
const OF_KERNEL = /^(?:\/|(?:\.\.\/)+)(?:dev|proc|sys)(?:\/|$)/;

/** The files without an end, for a command that runs at the top. */
const ENDLESS =
  /^(?:dev\/(?:zero|full|u?random|tty|console|stdin|fd|kmsg|ptmx|pts)|proc\/(?:kmsg|self))(?:\/|$)/;

function isOfKernel(word: string): boolean {
  const path = posix.normalize(word).replace(/^\/+/, "/");
  return path !== NOTHING && (OF_KERNEL.test(path) || ENDLESS.test(path));
}
