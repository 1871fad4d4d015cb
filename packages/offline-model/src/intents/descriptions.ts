import type { ToolResult } from "@flint/agent/model";

const MAX_NAMES = 12;
const MAX_LINES = 20;
const MAX_CHARACTERS = 2_000;
const REMARK = "I follow fixed rules, so I can show what is there, but not judge it.";

/** Describes what is in a folder, from the output of `ls -p`. */
export function describeListing(result: ToolResult, path?: string): string {
  if (result.status !== "done") return failure(`look into ${path ?? "the folder"}`, result);
  const names = result.text.split("\n").filter((name) => name !== "" && !/^\(.*\)$/.test(name));
  const subject = path === undefined ? "This folder" : `The folder ${path}`;
  if (names.length === 0) return `${subject} is empty.`;
  const folders = names.filter((name) => name.endsWith("/"));
  const files = names.filter((name) => !name.endsWith("/"));
  return [
    `${subject} contains ${count(folders.length, "folder")} and ${count(files.length, "file")}.`,
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

/** Describes a text by its size and how it begins, or by the files of a diff. */
export function describeText(name: string, text: string): string {
  if (text.trim() === "") return `${name} is empty.`;
  const files = filesIn(text);
  if (files.length > 0)
    return [`${name} is a diff of ${count(files.length, "file")}:`, ...files, "", REMARK].join("\n");
  const lines = count(text.replace(/\n$/, "").split("\n").length, "line");
  return [`${name} has ${lines}.`, fenced(text.trimEnd()), REMARK].join("\n\n");
}

/** Describes what the changes of a review touch, from the output of its commands. */
export function describeReview(results: readonly ToolResult[]): string {
  const [diff, untracked] = results.toReversed();
  const failed = results.find(({ status }) => status !== "done");
  if (failed !== undefined) return failure("see the changes", failed);
  const added = (untracked?.text ?? "").split("\n").filter(Boolean);
  const files = [
    ...filesIn(diff?.text ?? ""),
    ...added.map((path) => `- ${path} (new, not yet known to git)`),
  ];
  if (files.length === 0) return "There are no changes to review.";
  return [`The changes touch ${count(files.length, "file")}:`, ...files, "", REMARK].join("\n");
}

/** States that something did not happen, and why. */
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

/** The beginning of an output in a code fence. */
function fenced(output: string, printed?: ToolResult["printed"]): string {
  const fence = output.includes("```") ? "````" : "```";
  const shown = output.split("\n").slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  if (shown.length === output.length) return `${fence}\n${output}\n${fence}`;
  const total = printed === undefined ? "and more" : `${printed.lines} lines, ${printed.bytes} bytes in all`;
  return `${fence}\n${shown}\n… (${total})\n${fence}`;
}

/** A line for each file of a diff as git prints it; any other text has no files. */
function filesIn(diff: string): string[] {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map((part) => {
      const [header = "", ...hunks] = part.split(/^(?=@@ )/m);
      const lines = (sign: RegExp) => hunks.join("").match(sign)?.length ?? 0;
      const path = /^diff --git a\/.* b\/(.*)$/m.exec(header)?.[1] ?? "a file";
      return `- ${path} (+${lines(/^\+/gm)} -${lines(/^-/gm)})`;
    });
}
