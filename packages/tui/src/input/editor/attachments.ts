import { inputText, LIMITS, type UserInput } from "@flint/protocol";
import { type AttachedImage, type Attachment, type Content, imageLabel, withImages } from "./content.ts";
import { ATOMS, atomIndex, atomOf, isAtom, MAX_ATOMS } from "./graphemes.ts";

/** All pastes together, also those that were deleted since. */
const MAX_CHARACTERS = 4 * LIMITS.prompt;

/** The attachments of a text, each with the character that stands for it. They are kept for undo, even when deleted. */
export class Attachments {
  readonly #all: Attachment[] = [];
  #size = 0;

  /** The character for a new attachment; undefined if there are too many, or they are too large together. */
  add(attachment: Attachment): string | undefined {
    const size = attachment.kind === "paste" ? attachment.text.length : 0;
    if (this.#all.length >= MAX_ATOMS || this.#size + size > MAX_CHARACTERS) return undefined;
    this.#all.push(attachment);
    this.#size += size;
    return atomOf(this.#all.length - 1);
  }

  /** The attachment that a character stands for. */
  get(atom: string): Attachment | undefined {
    return isAtom(atom) ? this.#all[atomIndex(atom)] : undefined;
  }

  /** Returns the label of a character. Images are numbered as they appear in the text. */
  label(atom: string, text: string): string {
    const attachment = this.get(atom);
    if (attachment === undefined) return "";
    if (attachment.kind === "paste") return pasteLabel(attachment.text);
    if (attachment.kind === "part") return inputText([attachment.part]);
    return imageLabel(this.#imagesIn(text).indexOf(attachment) + 1, attachment.name);
  }

  /** Returns the length of the text with pastes expanded. */
  lengthOf(text: string): number {
    const pasted = Array.from(text.matchAll(ATOMS), ([atom]) => this.get(atom));
    return pasted.reduce(
      (sum, each) => sum + (each?.kind === "paste" ? each.text.length - 1 : 0),
      text.length,
    );
  }

  /** Forgets all of them, once nothing can bring them back. */
  clear(): void {
    this.#all.length = 0;
    this.#size = 0;
  }

  /** The text with pastes expanded, and with labels for images. */
  expand(text: string): string {
    return text.replace(ATOMS, (atom) => {
      const attachment = this.get(atom);
      return attachment?.kind === "paste" ? attachment.text : this.label(atom, text);
    });
  }

  /**
   * The text as the input of a turn: the expanded text, then images and other parts in order. Empty if there is nothing to
   * send.
   */
  input(text: string): UserInput[] {
    const isPart = (atom: string) => this.get(atom)?.kind === "part";
    const expanded = this.expand(text.replace(ATOMS, (atom) => (isPart(atom) ? "" : atom))).trim();
    const attached = this.#in(text).flatMap((attachment): UserInput[] => {
      if (attachment.kind === "image") return [imageInput(attachment)];
      return attachment.kind === "part" ? [attachment.part] : [];
    });
    return expanded === "" ? attached : [{ type: "text", text: expanded }, ...attached];
  }

  /** The text and what is attached in it, piece by piece. */
  content(text: string): Content {
    const pieces: (string | Attachment)[] = [];
    let end = 0;
    for (const { 0: atom, index } of text.matchAll(ATOMS)) {
      pieces.push(text.slice(end, index), ...[this.get(atom) ?? []].flat());
      end = index + atom.length;
    }
    return [...pieces, text.slice(end)].filter((piece) => piece !== "");
  }

  /** A text that was edited elsewhere, with the images whose labels are still in it. */
  edited(expanded: string, before: string): Content {
    return withImages(expanded, this.#imagesIn(before));
  }

  #imagesIn(text: string): (Attachment & { kind: "image" })[] {
    return this.#in(text).filter((attachment) => attachment.kind === "image");
  }

  /** Returns the attachments in a text, each once. */
  #in(text: string): readonly Attachment[] {
    const all = Array.from(text.matchAll(ATOMS), ([atom]) => this.get(atom));
    return [...new Set(all.filter((attachment) => attachment !== undefined))];
  }
}

function pasteLabel(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > 1 ? `[Pasted ${lines} lines]` : `[Pasted ${text.length} characters]`;
}

const FOLDED_LINES = 10;
const FOLDED_CHARACTERS = 1_000;

/** Reports whether a paste is folded into a label, because it would fill the screen. */
export function isFolded(text: string): boolean {
  return text.length > FOLDED_CHARACTERS || text.split("\n", FOLDED_LINES + 1).length > FOLDED_LINES;
}

/** The size is for those who look at the thread later: the file may be gone by then. */
function imageInput({ path, bytes }: AttachedImage): UserInput {
  return { type: "localImage", path, ...(bytes === undefined ? {} : { _meta: { bytes } }) };
}
