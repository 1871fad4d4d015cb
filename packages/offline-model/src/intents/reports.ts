import type { ToolResult } from "@flint/agent/model";

/** Files that tell what a folder is for. */
const NOTABLE =
  /^(readme(\..*)?|package\.json|pyproject\.toml|requirements\.txt|cargo\.toml|go\.mod|pom\.xml|build\.gradle|makefile|dockerfile|license(\..*)?|agents\.md|claude\.md|contributing\.md|changelog\.md|tsconfig\.json|composer\.json|gemfile|cmakelists\.txt)$/i;

const SHOWN_NAMES = 12;
const SHOWN_LINES = 20;
const SHOWN_CHARACTERS = 2_000;

/** The names in the output of `ls -p` or of a tool that lists files; folders end with a slash. */
export function namesIn(listing: string): string[] {
  return listing
    .split("\n")
    .map((line) =>
      line
        .trim()
        .replace(/^(?:- |\.\/)/, "")
        .replace(/(?<=.)@$/, ""),
    )
    .filter((name) => name !== "" && !/^\(.*\)$/.test(name));
}

/** What a folder holds, in words. */
export function describeListing(result: ToolResult, path?: string): string {
  if (result.status !== "done") return notDone(`look into ${path ?? "the folder"}`, result);
  const names = namesIn(result.text);
  const place = path === undefined ? "This folder" : `The folder ${path}`;
  if (names.length === 0) return `${place} is empty.`;
  const folders = names.filter((name) => name.endsWith("/"));
  const files = names.filter((name) => !name.endsWith("/"));
  const notable = files.filter((name) => NOTABLE.test(name));
  return [
    `${place} holds ${count(folders.length, "folder")} and ${count(files.length, "file")}.`,
    ...(notable.length === 0 ? [] : [`Worth knowing: ${listed(notable)}.`]),
    ...(folders.length === 0 ? [] : [`Folders: ${listed(folders)}.`]),
    ...(files.length === 0 || files.length === notable.length ? [] : [`Files: ${listed(files)}.`]),
  ].join(" ");
}

/** How a command ended and what it printed. */
export function describeRun(command: string, result: ToolResult): string {
  if (result.status === "declined") return notDone(`run \`${command}\``, result);
  const ending = `\`${command}\` ${ended(result)}`;
  const output = result.text.trimEnd();
  if (output === "") return `${ending} and printed nothing.`;
  return `${ending} and printed:\n\n${fenced(output, result.printed)}`;
}

function ended({ exitCode, status }: ToolResult): string {
  if (exitCode !== undefined) return `ended with exit code ${exitCode}`;
  return status === "done" ? "ran" : "failed";
}

/** Which files were found. */
export function describeFound(name: string, result: ToolResult): string {
  if (result.status !== "done") return notDone(`look for ${name}`, result);
  const paths = namesIn(result.text);
  if (paths.length === 0 || isNothing(result.text)) return `There is no file like ${name} here.`;
  return `I found ${count(paths.length, "file")} like ${name}:\n\n${fenced(result.text.trim())}`;
}

/** Which lines were found. */
export function describeMatches(text: string, result: ToolResult): string {
  // grep ends with 1 when there is nothing to be found.
  const isFailure = result.status !== "done" && !(result.exitCode === 1 && result.text.trim() === "");
  if (isFailure) return notDone(`search for ${text}`, result);
  const lines = namesIn(result.text);
  if (lines.length === 0 || isNothing(result.text)) return `\`${text}\` is nowhere in the files here.`;
  return `I found \`${text}\` in ${count(lines.length, "line")}:\n\n${fenced(result.text.trim())}`;
}

/** What tools say when there was nothing to be found. */
function isNothing(text: string): boolean {
  return /^\(?(?:no (?:files?|match(?:es)?|results?)\b|nothing\b|found 0\b)/i.test(text.trim());
}

/** What became of a file. */
export function describeWrite(path: string, result: ToolResult): string {
  if (result.status !== "done") return notDone(`write ${path}`, result);
  return `Done: ${result.text.trim() || `wrote ${path}.`}`;
}

/** Says that something did not happen, and why. */
export function notDone(what: string, { status, text }: ToolResult): string {
  const reason = text.trim();
  const because = reason === "" ? "" : ` ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
  return status === "declined"
    ? `I did not ${what}, because it was declined.${because}`
    : `I could not ${what}.${because}`;
}

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number === 0 ? "no" : number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Names in a sentence; only the first of many. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).join(", ");
  return names.length <= SHOWN_NAMES ? shown : `${shown} and ${names.length - SHOWN_NAMES} more`;
}

/** An output as it was printed; only the beginning of a long one. */
export function fenced(output: string, printed?: ToolResult["printed"]): string {
  const fence = output.includes("```") ? "````" : "```";
  return `${fence}\n${excerpt(output, printed)}\n${fence}`;
}

function excerpt(output: string, printed: ToolResult["printed"]): string {
  const lines = output.split("\n");
  const shown = lines.slice(0, SHOWN_LINES).join("\n").slice(0, SHOWN_CHARACTERS);
  if (shown.length === output.length) return shown;
  if (printed !== undefined)
    return `${shown}\n… (${count(printed.lines, "line")}, ${count(printed.bytes, "byte")} in all)`;
  // A tool that left something out has not told how many lines there were.
  const isCut = /left out|truncated|omitted/i.test(output.slice(shown.length));
  return `${shown}\n… (${isCut ? "and much more" : `${count(lines.length, "line")} in all`})`;
}
