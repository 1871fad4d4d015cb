const SHELL = /^(?:\/(?:[\w.-]+\/)*)?(?:ba|z|da)?sh$/;
const SCRIPT_FLAGS = new Set(["-c", "-lc"]);

/**
 * The script in a command line of the form `/bin/bash -lc 'script'`, which is how Codex runs every command. Any other
 * line is returned as it is.
 */
export function unwrapShell(line: string): string {
  const words = shellWords(line);
  if (words?.length !== 3) return line;
  const [shell = "", flag = "", script = ""] = words;
  return SHELL.test(shell) && SCRIPT_FLAGS.has(flag) ? script : line;
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
