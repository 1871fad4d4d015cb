import type { FileUpdateChange, PlanEntry } from "@flint/protocol";

/** What kind of thing a row shows. */
export type RowFamily =
  | "user"
  | "message"
  | "thought"
  | "command"
  | "change"
  | "tool"
  | "search"
  | "plan"
  | "review"
  | "notice"
  | "unknown";

/** How far the work of a row is. What has no status of its own is `completed`. */
export type RowStatus = "inProgress" | "completed" | "failed" | "declined";

/** A piece of a line. The text is exactly what the agent sent; each screen escapes it in its own way. */
export interface Span {
  readonly text: string;
  readonly emphasis?: "strong" | "muted" | undefined;
  /** Set for text that a user must be able to judge by its exact characters, such as a command. */
  readonly exact?: true | undefined;
}

/** A line of a unified diff, without the file header. */
export interface DiffLine {
  readonly kind: "hunk" | "added" | "removed" | "context" | "note";
  readonly text: string;
}

/** A part of a row's body. */
export type Block =
  | { readonly kind: "markdown"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "error"; readonly text: string }
  /** The output of a command; `omittedBytes` of it, in the middle, were not stored. */
  | { readonly kind: "output"; readonly text: string; readonly omittedBytes: number }
  | {
      readonly kind: "diff";
      readonly change: FileUpdateChange["kind"];
      readonly path: string;
      readonly movePath?: string | undefined;
      readonly lines: readonly DiffLine[];
      readonly added: number;
      readonly removed: number;
    }
  | { readonly kind: "plan"; readonly entries: readonly PlanEntry[] }
  | { readonly kind: "json"; readonly label: string; readonly value: unknown };

/** One entry of a timeline: what an item shows on every screen, without widths, colours or markup. */
export interface Row {
  /** Stable for as long as the item exists. */
  readonly key: string;
  readonly family: RowFamily;
  readonly status: RowStatus;
  /** One line; empty if the body says it all. */
  readonly title: readonly Span[];
  /** How it ended, such as `exit 1`; undefined if that goes without saying. */
  readonly outcome?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly body: readonly Block[];
}

/** The text of spans. */
export function spanText(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join("");
}

const HUNK = /^@@ /;

/** Parses the unified diff of a changed file. */
export function diffBlock({
  kind: change,
  path,
  movePath,
  diff,
}: FileUpdateChange): Extract<Block, { kind: "diff" }> {
  const lines = bodyOf(diff).map((text): DiffLine => ({ kind: kindOf(text), text }));
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { kind: "diff", change, path, movePath, lines, added: count("added"), removed: count("removed") };
}

/** Parses a diff of several files, as git prints it. */
export function diffBlocks(diff: string): Extract<Block, { kind: "diff" }>[] {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map((part) => {
      const [, from = "", to = ""] = /^diff --git "?a\/(.*?)"? "?b\/(.*?)"?$/m.exec(part) ?? [];
      const kind = /^new file/m.test(part) ? "add" : /^deleted file/m.test(part) ? "delete" : "modify";
      return diffBlock({ path: from, kind, diff: part, ...(from === to ? {} : { movePath: to }) });
    });
}

/** The lines after the file header. A diff without hunks is all body. */
function bodyOf(diff: string): string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => HUNK.test(line));
  const body = first === -1 ? lines : lines.slice(first);
  return body.length === 1 && body[0] === "" ? [] : body;
}

function kindOf(line: string): DiffLine["kind"] {
  if (HUNK.test(line)) return "hunk";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("\\") ? "note" : "context";
}
