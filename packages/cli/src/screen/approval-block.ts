import type { Action } from "@flint/protocol";
import { exact, visible } from "@flint/view";
import { wantedChangeLines } from "./change-blocks.ts";
import { indented, type Line, lineOf, linesOf, span } from "./line.ts";
import { type Look, marksFor } from "./look.ts";
import type { Block } from "./wrap.ts";

/** What an agent wants to do, whole and exact: nothing of it is cut off or folded. */
export function approvalBlock(action: Action, look: Look, cwd: string): Block {
  const head = [span(marksFor(look.unicode).current, "yellow"), span(` ${titleOf(action)}`, "bold")];
  const reason = action.reason === undefined ? [] : [lineOf(`Why: ${flat(action.reason)}`, "dim")];
  const lines = [...placeLines(action), ...subjectLines(action, look, cwd), ...reason];
  return { head: [head, ...lines.map((line) => indented(line, 2))], indent: 4 };
}

function titleOf(action: Action): string {
  switch (action.kind) {
    case "command":
      return "The agent wants to run a command";
    case "fileChange":
      return "The agent wants to change files";
    case "tool":
      return "The agent wants to call a tool";
  }
}

function placeLines(action: Action): Line[] {
  return action.kind === "command" ? [[span("in ", "dim"), span(exact(action.cwd))]] : [];
}

function subjectLines(action: Action, look: Look, cwd: string): Line[] {
  switch (action.kind) {
    case "command": {
      const [first = "", ...rest] = exact(action.command).split("\n");
      return [[span("$ ", "dim"), span(first, "bold")], ...rest.map((line) => lineOf(`  ${line}`, "bold"))];
    }
    case "fileChange":
      return wantedChangeLines(action.changes, { look, cwd });
    case "tool": {
      const name = `${action.server === undefined ? "" : `${action.server}.`}${action.tool}`;
      const given = JSON.stringify(action.arguments ?? {}, null, 2);
      return [lineOf(exact(name), "bold"), ...linesOf(exact(given))];
    }
  }
}

function flat(text: string): string {
  return visible(text).replaceAll("\n", " ");
}
