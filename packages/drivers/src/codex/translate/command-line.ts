import { userInfo } from "node:os";
import { readGrantCheck } from "@flint/core/ports";
import { lazy } from "@flint/protocol";

const SCRIPT_FLAGS = new Set(["-c", "-lc"]);

/** A shell by its name, or in a folder that only the system's own programs are in. */
const SHELL =
  /^(?:\/(?:usr\/(?:local\/)?)?bin\/|\/opt\/homebrew\/bin\/|\/run\/current-system\/sw\/bin\/)?(?:ba|z|da)?sh$/;

/** The user's own shell, with which Codex runs commands unless the model names another one. */
const loginShell = lazy(() => {
  // Expected: a user without an entry.
  try {
    return userInfo().shell ?? "";
  } catch {
    return "";
  }
});

/**
 * Reports whether a program runs a script and does nothing else. The model may name any program as the shell
 * of a command: one of the project has to be shown, and must not run a script that was approved for a real
 * shell.
 */
function isShell(program: string): boolean {
  return SHELL.test(program) || (/\/(?:ba|z|da)?sh$/.test(program) && program === loginShell());
}

/**
 * The script in a command line of the form `/bin/bash -lc 'script'`, which is how Codex runs every command, as the agent
 * wrote it. Any other line is returned as it is.
 */
export function unwrapShell(line: string): string {
  return readCommandLine(line).script;
}

/** A command line of Codex in its parts. */
export interface CommandLine {
  /** As the agent wrote it. */
  readonly script: string;
  readonly argv: readonly string[];
  /** The name under which a grant can take its place; undefined if it did not pass the hook. */
  readonly grantName: string | undefined;
}

/** Reads a command line of Codex, without what the hook put before its script. */
export function readCommandLine(line: string): CommandLine {
  const words = shellWords(line);
  const [shell = "", flag = "", text = ""] = words ?? [];
  if (words?.length !== 3 || !isShell(shell) || !SCRIPT_FLAGS.has(flag))
    return { script: line, argv: ["bash", "-c", line], grantName: undefined };
  const { name: grantName, command: script } = readGrantCheck(text);
  return { script, argv: [shell, flag, script], grantName };
}

/** The words of a line as a shell reads them; undefined if it has anything but words and quotes. */
function shellWords(line: string): string[] | undefined {
  const words: string[] = [];
  let rest = line;
  while (rest !== "") {
    const taken = takeWord(rest);
    if (taken === undefined) return undefined;
    words.push(taken.word);
    rest = taken.rest.replace(/^ +/, "");
  }
  return words;
}

function takeWord(text: string): { readonly word: string; readonly rest: string } | undefined {
  let word = "";
  let rest = text;
  while (rest !== "" && !rest.startsWith(" ")) {
    const piece =
      /^(?:'([^']*)'|"((?:[^"\\$`!]|\\["\\$`])*)"|\\([^\n])|([^\s'"\\$`!&|;<>()*?[\]{}~#]+))/.exec(rest);
    if (piece === null) return undefined;
    const [whole, single, double, escaped, plain] = piece;
    word += single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "";
    rest = rest.slice(whole.length);
  }
  return { word, rest };
}
