/**
 * The text that is being completed, and the number of code units before and after the cursor that it takes.
 */
export interface Trigger {
  readonly kind: "file" | "command" | "argument";
  /** The text typed of it so far, without its mark. */
  readonly query: string;
  readonly before: number;
  readonly after: number;
  /** For an argument: the name of its command. */
  readonly command?: string | undefined;
}

/** A file begins after a space or an opening bracket or quote: an address such as `a@b` is none. */
const FILE = /(?:^|[\s([{<'"`])@(?<query>"[^"]*|[^\s"]*)$/;
const COMMAND = /^\/(?<query>[\w:-]*)$/;
const ARGUMENT = /^\/(?<command>[\w:-]+)\s+(?<query>.*)$/;

/**
 * Returns the text that is being completed at the cursor; undefined if there is none. Commands are at the
 * start of the first line.
 */
export function triggerAt(line: number, before: string, after: string): Trigger | undefined {
  const command = line === 0 ? COMMAND.exec(before)?.groups?.query : undefined;
  if (command !== undefined)
    return { kind: "command", query: command, before: before.length, after: lengthOf(/^[\w:-]*/, after) };
  const file = FILE.exec(before)?.groups?.query;
  if (file !== undefined) {
    const isQuoted = file.startsWith('"');
    const rest = lengthOf(isQuoted ? /^[^"]*"?/ : /^[^\s"]*/, after);
    return { kind: "file", query: isQuoted ? file.slice(1) : file, before: file.length + 1, after: rest };
  }
  const argument = line === 0 ? ARGUMENT.exec(before)?.groups : undefined;
  if (argument?.command === undefined || argument.query === undefined) return undefined;
  const { query } = argument;
  return { kind: "argument", query, before: query.length, after: after.length, command: argument.command };
}

function lengthOf(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.[0].length ?? 0;
}

/** The command of an input that begins with `!`, which is run in the thread; undefined for any other input. */
export function shellCommandOf(text: string): string | undefined {
  return text.startsWith("!") ? text.slice(1).trim() : undefined;
}

/** A file as it is written in a prompt. */
export function mentionOf(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}
