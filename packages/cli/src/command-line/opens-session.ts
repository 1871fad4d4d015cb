import { isInteractive } from "./terminal.ts";

/** `flint`, `flint "A PROMPT"` and `flint --agent claude` open a session; without a terminal, `flint` shows its help. */
export function opensSession([first]: readonly string[]): boolean {
  if (first === undefined) return isInteractive() && process.stdout.isTTY === true;
  if (first === "--help" || first === "-h") return false;
  return first.startsWith("-") || /\s/.test(first);
}

/** Reports whether an argument is `-p` or `--print`, with which a prompt is answered without a session. */
export function isPrint(argument: string): boolean {
  return argument === "-p" || argument === "--print";
}
