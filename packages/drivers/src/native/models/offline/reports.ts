import type { ToolResult } from "../model.ts";

/** Files that tell what a folder is for. */
const NOTABLE =
  /^(readme(\..*)?|package\.json|pyproject\.toml|requirements\.txt|cargo\.toml|go\.mod|pom\.xml|build\.gradle|makefile|dockerfile|license(\..*)?|agents\.md|claude\.md|contributing\.md|changelog\.md|tsconfig\.json|composer\.json|gemfile|cmakelists\.txt)$/i;

const SHOWN_NAMES = 12;
const SHOWN_LINES = 20;
const SHOWN_CHARACTERS = 2_000;

/** What a folder holds, in words, from the output of `ls -Ap`. */
export function describeListing(result: ToolResult): string {
  if (result.status !== "done") return notDone("look into the folder", result);
  const names = result.text.split("\n").filter((name) => name !== "");
  if (names.length === 0) return "This folder is empty.";
  const folders = names.filter((name) => name.endsWith("/"));
  const files = names.filter((name) => !name.endsWith("/"));
  const notable = files.filter((name) => NOTABLE.test(name));
  return [
    `This folder holds ${count(folders.length, "folder")} and ${count(files.length, "file")}.`,
    ...(notable.length === 0 ? [] : [`Worth knowing: ${listed(notable)}.`]),
    ...(folders.length === 0 ? [] : [`Folders: ${listed(folders)}.`]),
    ...(files.length === 0 || files.length === notable.length ? [] : [`Files: ${listed(files)}.`]),
  ].join(" ");
}

/** How a command ended and what it printed. */
export function describeRun(command: string, result: ToolResult): string {
  if (result.status === "declined") return notDone(`run \`${command}\``, result);
  const ending = `\`${command}\` ended with exit code ${result.exitCode ?? "unknown"}`;
  const output = result.text.replace(/\s+$/, "");
  if (output === "") return `${ending} and printed nothing.`;
  const fence = output.includes("```") ? "````" : "```";
  return `${ending} and printed:\n\n${fence}\n${excerpt(output)}\n${fence}`;
}

/** What became of a file. */
export function describeWrite(path: string, result: ToolResult): string {
  return result.status === "done" ? `Done: ${result.text}` : notDone(`write ${path}`, result);
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

function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).join(", ");
  return names.length <= SHOWN_NAMES ? shown : `${shown} and ${names.length - SHOWN_NAMES} more`;
}

function excerpt(output: string): string {
  const lines = output.split("\n");
  const shown = lines.slice(0, SHOWN_LINES).join("\n").slice(0, SHOWN_CHARACTERS);
  return shown.length === output.length ? shown : `${shown}\n… (${count(lines.length, "line")} in all)`;
}
