import type { UserInput } from "@flint/protocol";
import type { Block, ImageBlock } from "../row.ts";

const DATA_URL = /^data:(?<type>[\w.+-]+\/[\w.+-]+)?(?:;[^,]*)?,/;

/** An image by its URL or path: its name, and its size where the URL holds the image itself. */
export function imageBlock(source: string, name?: string): ImageBlock {
  const head = DATA_URL.exec(source);
  if (head === null) return { kind: "image", name: name ?? lastPart(source), source };
  const mimeType = head.groups?.type ?? "image/png";
  const [, kind = "png"] = mimeType.split("/");
  const isBase64 = head[0].toLowerCase().includes(";base64,");
  const bytes = isBase64 ? decodedLength(source, head[0].length) : source.length - head[0].length;
  return { kind: "image", name: name ?? `image.${kind.replace(/\+.*/, "")}`, mimeType, bytes, source };
}

function decodedLength(source: string, from: number): number {
  const padding = source.endsWith("==") ? 2 : source.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor(((source.length - from) * 3) / 4) - padding);
}

function lastPart(source: string): string {
  const [path = source] = source.split(/[?#]/);
  return path.split(/[\\/]/).findLast((part) => part !== "") ?? source;
}

/** The content of a message: text as it was typed, and its images. */
export function inputBlocks(content: readonly UserInput[]): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const flush = () => {
    if (lines.length > 0) blocks.push({ kind: "text", text: lines.join("\n") });
    lines = [];
  };
  for (const part of content) {
    const image = imageOf(part);
    if (image === undefined) lines.push(partText(part));
    else {
      flush();
      blocks.push(image);
    }
  }
  flush();
  return blocks;
}

function imageOf(part: UserInput): ImageBlock | undefined {
  const { name, bytes } = part._meta ?? {};
  const known = typeof name === "string" ? name : undefined;
  const image =
    part.type === "image"
      ? imageBlock(part.url, known)
      : part.type === "localImage"
        ? imageBlock(part.path, known)
        : undefined;
  return image === undefined || typeof bytes !== "number" ? image : { ...image, bytes };
}

function partText(part: UserInput): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "skill":
      return `[skill ${part.name}]`;
    case "mention":
      return `@${part.path}`;
    // Images are blocks of their own.
    case "image":
    case "localImage":
      return "";
  }
}
