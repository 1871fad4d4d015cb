import type { ToolResult } from "@flint/agent/model";

const MAX_NAMES = 12;
const MAX_LINES = 20;
const MAX_CHARACTERS = 2_000;

/** The names in the output of `ls -p`; folders end with a slash. */
export function namesIn(listing: string): string[] {
  return listing.split("\n").filter((name) => name !== "" && !/^\(.*\)$/.test(name));
}

/** Describes what is in a folder. */
export function describeListing(result: ToolResult, path?: string): string {
  if (result.status !== "done") return failure(`look into ${path ?? "the folder"}`, result);
  const names = namesIn(result.text);
  const place = path === undefined ? "This folder" : `The folder ${path}`;
  if (names.length === 0) return `${place} is empty.`;
  const folders = names.filter((name) => name.endsWith("/"));
  const files = names.filter((name) => !name.endsWith("/"));
  return [
    `${place} holds ${count(folders.length, "folder")} and ${count(files.length, "file")}.`,
    ...(folders.length === 0 ? [] : [`Folders: ${listed(folders)}.`]),
    ...(files.length === 0 ? [] : [`Files: ${listed(files)}.`]),
  ].join(" ");
}

/** Describes how a command ended and what it printed. */
export function describeRun(command: string, result: ToolResult): string {
  if (result.status === "declined") return failure(`run \`${command}\``, result);
  const { exitCode, status } = result;
  const ended =
    exitCode !== undefined ? `ended with exit code ${exitCode}` : status === "done" ? "ran" : "failed";
  const output = result.text.trimEnd();
  if (output === "") return `\`${command}\` ${ended} and printed nothing.`;
  return `\`${command}\` ${ended} and printed:\n\n${fenced(output, result.printed)}`;
}

/** Describes what a search found. grep exits with 1 when nothing matches. */
export function describeMatches(wanted: string, noun: string, result: ToolResult): string {
  const output = result.text.trim();
  const isFailure = result.status !== "done" && !(result.exitCode === 1 && output === "");
  if (isFailure) return failure(`search for ${wanted}`, result);
  if (output === "") return `I found no ${noun} for ${wanted} here.`;
  return `I found ${count(output.split("\n").length, noun)} for ${wanted}:\n\n${fenced(output)}`;
}

/** Says that something did not happen, and why. */
export function failure(goal: string, { status, text }: ToolResult): string {
  const reason = text.trim();
  const because = reason === "" ? "" : ` ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
  if (status === "declined") return `I did not ${goal}, because it was declined.${because}`;
  return `I could not ${goal}.${because}`;
}

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number === 0 ? "no" : number} ${noun}${number === 1 ? "" : "s"}`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(", ");
  return names.length <= MAX_NAMES ? shown : `${shown} and ${names.length - MAX_NAMES} more`;
}

/** Output in a fence, at most its beginning. */
export function fenced(output: string, printed?: ToolResult["printed"]): string {
  const fence = output.includes("```") ? "````" : "```";
  const shown = output.split("\n").slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  if (shown.length === output.length) return `${fence}\n${output}\n${fence}`;
  const total = printed === undefined ? "and more" : `${printed.lines} lines, ${printed.bytes} bytes in all`;
  return `${fence}\n${shown}\n… (${total})\n${fence}`;
}
