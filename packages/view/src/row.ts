import type { FileUpdateChange, PlanEntry } from "@flint/protocol";

/** The kind of thing that a row shows. */
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
  /** Another agent continues from here. */
  | "handoff"
  /** The outcome and usage of a turn. */
  | "turn"
  | "unknown";

/** The progress of a row's work. Rows without a status of their own are `completed`. */
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
  /** Its number in the old and in the new file, where it is in one; only if the diff says so. */
  readonly oldLine?: number | undefined;
  readonly newLine?: number | undefined;
}

/** The change of one file. */
export interface DiffBlock {
  readonly kind: "diff";
  readonly change: FileUpdateChange["kind"];
  readonly path: string;
  readonly movePath?: string | undefined;
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
}

/** A part of a row's body. */
export type Block =
  | { readonly kind: "markdown"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "error"; readonly text: string }
  /** The output of a command; `omittedBytes` of it, in the middle, were not stored. */
  | { readonly kind: "output"; readonly text: string; readonly omittedBytes: number }
  | DiffBlock
  | { readonly kind: "plan"; readonly entries: readonly PlanEntry[] }
  | ImageBlock
  /** Something that was not allowed, and why. */
  | { readonly kind: "declined"; readonly what: string; readonly reason: string }
  | { readonly kind: "json"; readonly label: string; readonly value: unknown };

/** An image, of the user or of an agent. */
export interface ImageBlock {
  readonly kind: "image";
  readonly name: string;
  readonly mimeType?: string | undefined;
  readonly bytes?: number | undefined;
  /** A URL, a `data:` URL, or a path on the machine of the server. */
  readonly source: string;
}

/** An action that a screen may offer on a row. */
export type RowAction =
  | "toggleFold"
  | "openImage"
  | "copyRow"
  | "stopCommand"
  | "rewindToRow"
  | "forkAtRow"
  | "showDiff";

/** State of a row's details: shown or folded. */
export type Fold = "open" | "closed";

/** One entry of a timeline: what an item shows on every screen, without widths, colours or markup. */
export interface Row {
  /** Stable for as long as the item exists. */
  readonly key: string;
  readonly itemId?: string | undefined;
  readonly turnId?: string | undefined;
  readonly family: RowFamily;
  readonly status: RowStatus;
  /** One line; empty if the body says it all. */
  readonly title: readonly Span[];
  /** Less important parts of the title: the sender, the arguments of a call, the usage of a turn. */
  readonly meta: readonly Span[];
  /** Its end, such as `exit 1`; undefined if that goes without saying. */
  readonly outcome?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly body: readonly Block[];
  /** Set if the row has details that can be hidden; undefined for what is always shown in full. */
  readonly fold?: Fold | undefined;
  readonly actions: readonly RowAction[];
  /** Number of sub-agents that it is inside of. */
  readonly depth: number;
}

/** Everything that a row says, as plain text. */
export function rowText({ title, body }: Row): string {
  return [spanText(title), ...body.map(blockText)].filter((text) => text !== "").join("\n");
}

function blockText(block: Block): string {
  switch (block.kind) {
    case "markdown":
    case "text":
    case "error":
    case "output":
      return block.text;
    case "diff":
      return [block.path, ...block.lines.map((line) => DIFF_MARKS[line.kind] + line.text)].join("\n");
    case "plan":
      return block.entries.map(({ step }) => `- ${step}`).join("\n");
    case "image":
      return block.source.startsWith("data:") ? block.name : block.source;
    case "declined":
      return `${block.what}: ${block.reason}`;
    case "json":
      return `${block.label} ${JSON.stringify(block.value, null, 2)}`;
  }
}

const DIFF_MARKS = { hunk: "", added: "+", removed: "-", context: " ", note: "" } as const;

/** The text of spans. */
export function spanText(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join("");
}
