import { basename } from "node:path";
import { isRecord, UserInput } from "@flint/protocol";

/** An image file, with its size where that is known. */
export interface AttachedImage {
  readonly name: string;
  readonly path: string;
  readonly bytes?: number | undefined;
}

/** Content of a text besides its characters. It is shown as a label, and is one character to the cursor. */
export type Attachment =
  | { readonly kind: "paste"; readonly text: string }
  | ({ readonly kind: "image" } & AttachedImage)
  /** A part of an input that cannot be typed, such as an image by its URL. It is sent as it is. */
  | { readonly kind: "part"; readonly part: UserInput };

/** Everything that stands in an editor, in order: texts, and what is attached between them. It can be stored as JSON. */
export type Content = readonly (string | Attachment)[];

/** Returns the label of an image, which is also what the agent reads where the image belongs. */
export function imageLabel(number: number, name: string): string {
  return `[Image ${number}: ${name}]`;
}

/** An input as it was before it was sent: images are in the places of their labels, those without one at the end. */
export function contentOf(input: readonly UserInput[]): Content {
  const text = input.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
  const images = input.flatMap((piece): ImageAttachment[] =>
    piece.type === "localImage"
      ? [{ kind: "image", name: basename(piece.path), path: piece.path, ...bytesIn(piece._meta) }]
      : [],
  );
  const parts = input.filter(({ type }) => type !== "text" && type !== "localImage");
  const placed = withImages(text, images);
  const missing = images.filter((image) => !placed.includes(image));
  const rest: Attachment[] = [...missing, ...parts.map((part) => ({ kind: "part" as const, part }))];
  return [...placed, ...rest.flatMap((attachment) => [" ", attachment])];
}

type ImageAttachment = Extract<Attachment, { kind: "image" }>;

/** A text with images in the places of their labels; those without one are left out. */
export function withImages(text: string, images: readonly ImageAttachment[]): Content {
  return images.reduce<Content>(
    (content, image, index) => {
      const label = imageLabel(index + 1, image.name);
      const at = content.findIndex((piece) => typeof piece === "string" && piece.includes(label));
      const piece = content[at];
      if (typeof piece !== "string") return content;
      const start = piece.indexOf(label);
      const around = [piece.slice(0, start), image, piece.slice(start + label.length)];
      return [...content.slice(0, at), ...around.filter((each) => each !== ""), ...content.slice(at + 1)];
    },
    [text],
  );
}

/** Reads stored content. Undefined if it is something else. */
export function parseContent(json: string): Content | undefined {
  let stored: unknown;
  // Expected: a file that was cut off, or edited.
  try {
    stored = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!Array.isArray(stored)) return undefined;
  const pieces = stored.map(pieceOf);
  const known = pieces.flatMap((piece) => (piece === undefined ? [] : [piece]));
  return known.length === pieces.length ? known : undefined;
}

function pieceOf(piece: unknown): string | Attachment | undefined {
  if (typeof piece === "string") return piece;
  if (!isRecord(piece)) return undefined;
  const { kind, text, name, path } = piece;
  if (kind === "paste" && typeof text === "string") return { kind, text };
  if (kind === "image" && typeof name === "string" && typeof path === "string")
    return { kind, name, path, ...bytesIn(piece) };
  const part = UserInput.safeParse(piece.part);
  return kind === "part" && part.success ? { kind, part: part.data } : undefined;
}

function bytesIn({ bytes }: Readonly<Record<string, unknown>> = {}): { readonly bytes?: number } {
  return typeof bytes === "number" ? { bytes } : {};
}
