import { posix } from "node:path";
import type { CommandAction } from "@flint/protocol";
import { isReadingCall, READ_ONLY_PROGRAMS, type ReadOnlyCall } from "../approval/trusted-commands.ts";
import { parseSimpleCommand } from "./shell-words.ts";

/** Longer scripts are not read. */
const MAX_LENGTH = 4_000;
const MAX_PARTS = 20;

/**
 * Returns the actions of a command: the files it reads, the folders it lists, what it searches for. A command
 * of which any part is not certain is one unknown action, because half an answer would hide the other half.
 */
export function commandActions(script: string): readonly CommandAction[] {
  const [folder, parts] = inFolder(partsOf(script.trim()) ?? []);
  const actions = parts.map((part) => actionsOf(part)?.map((action) => below(folder, action)));
  const known = actions.flatMap((found) => found ?? []);
  const isCertain = known.length > 0 && actions.every((found) => found !== undefined);
  return isCertain ? known : [{ type: "unknown", command: script }];
}

/** One simple command of a script, and the operator before it. */
interface Part {
  readonly text: string;
  readonly operator: string;
}

/** The folder that a script changes to before anything else, and the rest of the script. */
function inFolder(parts: readonly Part[]): readonly [string, readonly Part[]] {
  const [first, next] = parts;
  const [program, folder = "", ...more] = parseSimpleCommand(first?.text ?? "") ?? [];
  const isChange = program === "cd" && more.length === 0 && folder !== "" && !folder.startsWith("-");
  return isChange && next?.operator === "&&" ? [folder, parts.slice(1)] : ["", parts];
}

function below(folder: string, action: CommandAction): CommandAction {
  if (folder === "" || action.type === "unknown") return action;
  const path = action.path ?? "";
  return { ...action, path: path.startsWith("/") ? path : posix.join(folder, path) };
}

/** A quotation, an ignored redirection, an operator, or any other character. They never overlap. */
const PIECES = /'[^']*'|"[^"]*"| (?:[12]?>\/dev\/null|2>&1)(?=[\s;|&]|$)|&&|\|\||[|;\n]|[\s\S]/g;
const OPERATORS: ReadonlySet<string> = new Set(["&&", "||", "|", ";", "\n"]);

/** The simple commands of a script; undefined if it has too many. Each of them is still to be parsed. */
function partsOf(script: string): readonly Part[] | undefined {
  if (script.length > MAX_LENGTH) return undefined;
  const parts: Part[] = [];
  let [text, operator] = ["", ""];
  for (const piece of [...(script.match(PIECES) ?? []), ";"]) {
    if (piece.startsWith(" ") && piece.length > 1) continue;
    if (!OPERATORS.has(piece)) {
      text += piece;
      continue;
    }
    if (text.trim() !== "") parts.push({ text: text.trim(), operator });
    // An operator without a command before it is part of something else, or an error.
    else if (piece !== ";" && piece !== "\n") return undefined;
    [text, operator] = ["", piece];
  }
  return parts.length > MAX_PARTS ? undefined : parts;
}

/** The actions of a simple command, none if it only changes how the output of another looks; undefined if unknown. */
function actionsOf({ text, operator }: Part): readonly CommandAction[] | undefined {
  const [program = "", ...words] = parseSimpleCommand(text) ?? [];
  const git = program === "git" && words[0] === "grep" ? READ_ONLY_PROGRAMS.grep : undefined;
  const call = git ?? (Object.hasOwn(READ_ONLY_PROGRAMS, program) ? READ_ONLY_PROGRAMS[program] : undefined);
  if (program === "sed") return printedLines(text, words);
  if (call === undefined) return undefined;
  const given = git === undefined ? words : words.slice(1);
  if (!isReadingCall(call, given)) return undefined;
  const name = git === undefined ? program : "grep";
  return actionsOfCall(name, text, operandsOf(call, given), operator === "|");
}

/** The words of a call that are not options, and the values of its options. */
interface Operands {
  readonly words: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  readonly options: readonly string[];
}

function operandsOf(call: ReadOnlyCall, given: readonly string[]): Operands {
  const words: string[] = [];
  const options: string[] = [];
  const values = new Map<string, string>();
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? "";
    if (word === "--" && call.plainDashes !== true) {
      words.push(...given.slice(at + 1));
      break;
    }
    if (!word.startsWith("-")) words.push(word);
    else if (call.valued?.test(word) === true) values.set(word, given[++at] ?? "");
    else options.push(word);
  }
  return { words, values, options };
}

const READERS: ReadonlySet<string> = new Set(["cat", "head", "tail", "nl"]);
const LISTERS: ReadonlySet<string> = new Set(["ls", "tree"]);
/** Programs that, after a pipe, only change how the output looks. */
const FORMATTERS: ReadonlySet<string> = new Set("cut head nl sort tail tr uniq wc".split(" "));

function actionsOfCall(
  program: string,
  command: string,
  { words, values, options }: Operands,
  isPiped: boolean,
): readonly CommandAction[] | undefined {
  if (isPiped) {
    const isPlain = FORMATTERS.has(program) && words.length === 0;
    // A search in the output of another command reads no file.
    return isPlain || (program === "grep" && words.length === 1) ? [] : undefined;
  }
  if (READERS.has(program)) return words.length === 0 ? undefined : words.map((path) => read(command, path));
  if (LISTERS.has(program)) return [listed(command, words[0])];
  if (program === "rg" && options.includes("--files")) return [listed(command, words[0])];
  if (program === "rg" || program === "grep") return searched(command, words, values.get("-e"));
  if (program === "find") {
    const query = values.get("-name") ?? values.get("-iname") ?? values.get("-path");
    return query === undefined ? [listed(command, words[0])] : [found(command, query, words[0])];
  }
  // It prints something that is not in a file, such as `pwd` and `echo`: nothing to name.
  return undefined;
}

/** `sed -n 1,20p FILE`, which agents use to read a part of a file. */
function printedLines(command: string, words: readonly string[]): readonly CommandAction[] | undefined {
  const [option, lines = "", path, ...more] = words;
  if (option !== "-n" || path === undefined || path.startsWith("-") || more.length > 0) return undefined;
  return /^\d+(?:,(?:\d+|\$))?p$/.test(lines) ? [read(command, path)] : undefined;
}

function read(command: string, path: string): CommandAction {
  return { type: "read", command, name: path.split("/").findLast((name) => name !== "") ?? path, path };
}

function listed(command: string, path: string | undefined): CommandAction {
  return { type: "listFiles", command, ...(path === undefined ? {} : { path }) };
}

function searched(
  command: string,
  words: readonly string[],
  expression: string | undefined,
): readonly CommandAction[] | undefined {
  const [first, ...rest] = words;
  const query = expression ?? first;
  if (query === undefined) return undefined;
  return [found(command, query, expression === undefined ? rest[0] : first)];
}

function found(command: string, query: string, path: string | undefined): CommandAction {
  return { type: "search", command, query, ...(path === undefined ? {} : { path }) };
}
