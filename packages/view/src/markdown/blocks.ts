/** A piece of a line of Markdown. Text is exactly what the agent sent. */
export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "struck"; readonly inline: readonly Inline[] }
  | { readonly kind: "link"; readonly url: string; readonly inline: readonly Inline[] }
  | { readonly kind: "image"; readonly url: string; readonly alt: string }
  | { readonly kind: "break" };

/** An entry of a list. `checked` is set for the entries of a task list. */
export interface ListItem {
  readonly checked?: boolean | undefined;
  readonly blocks: readonly MarkdownBlock[];
}

/** The alignment of a table's column. */
export type Alignment = "left" | "right" | "center";

/** A block of Markdown. */
export type MarkdownBlock =
  | { readonly kind: "heading"; readonly depth: number; readonly inline: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly inline: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly MarkdownBlock[] }
  | {
      readonly kind: "list";
      /** The number of the first entry; undefined if the list is not numbered. */
      readonly start?: number | undefined;
      readonly items: readonly ListItem[];
    }
  | {
      readonly kind: "table";
      readonly align: readonly (Alignment | undefined)[];
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

/** The text of inline pieces, without their markup. */
export function inlineText(inline: readonly Inline[]): string {
  return inline.map(pieceText).join("");
}

function pieceText(piece: Inline): string {
  switch (piece.kind) {
    case "text":
    case "code":
      return piece.text;
    case "image":
      return piece.alt;
    case "break":
      return "\n";
    case "strong":
    case "emphasis":
    case "struck":
    case "link":
      return inlineText(piece.inline);
  }
}

/** Reports whether a link may be followed: only to the web, never to a script or a file. */
export function isWebLink(url: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url);
}
