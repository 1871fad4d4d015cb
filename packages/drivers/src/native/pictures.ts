import { resolve } from "node:path";
import { inputText, type UserInput } from "@flint/protocol";
import type { Message, Picture } from "./models/model.ts";
import { harmlessText } from "./text.ts";
import { FileRefusal } from "./tools/file-refusal.ts";
import { readPlainFile } from "./tools/plain-file.ts";

/** What one picture may weigh, before it is written as text. */
const PICTURE_BYTES = 3_750_000;

/** How many pictures go with one message. */
const PICTURES = 10;

type ImageInput = Extract<UserInput, { type: "image" | "localImage" }>;
type Loaded = { readonly picture: Picture } | { readonly problem: string };

/** What the user sent, as the model gets it. A picture that cannot be given is named with the reason. Never rejects. */
export async function userMessage(input: readonly UserInput[], cwd: string): Promise<Message> {
  return messageWith(input, await Promise.all(imagesOf(input).map((image) => load(image, cwd))));
}

/** The same for a message of an earlier time: files are not read again, they may have changed since. */
export function earlierUserMessage(input: readonly UserInput[]): Message {
  return messageWith(
    input,
    imagesOf(input).map((image) =>
      image.type === "image"
        ? loadAddress(image.url)
        : { problem: "it was shown earlier and is not here now" },
    ),
  );
}

function imagesOf(input: readonly UserInput[]): ImageInput[] {
  return input.filter((piece): piece is ImageInput => piece.type === "image" || piece.type === "localImage");
}

function messageWith(input: readonly UserInput[], loaded: readonly Loaded[]): Message {
  const pictures = loaded.flatMap((each) => ("picture" in each ? [each.picture] : []));
  const images = imagesOf(input);
  const problems = loaded.flatMap((each, index) => {
    const image = images[index];
    return "problem" in each && image !== undefined ? [`(${inputText([image])}: ${each.problem}.)`] : [];
  });
  const tooMany = pictures.length - PICTURES;
  if (tooMany > 0)
    problems.push(`(${tooMany} more pictures were left out: at most ${PICTURES} can be sent.)`);
  const text = harmlessText([inputText(input), ...problems].join("\n"));
  if (pictures.length === 0) return { role: "user", text };
  return { role: "user", text, pictures: pictures.slice(0, PICTURES) };
}

async function load(image: ImageInput, cwd: string): Promise<Loaded> {
  if (image.type === "image") return loadAddress(image.url);
  // Expected: a file that is not there, is no plain file, or may not be read.
  try {
    return pictureOf(await readPlainFile(resolve(cwd, image.path), PICTURE_BYTES));
  } catch (thrown) {
    if (thrown instanceof FileRefusal) return { problem: thrown.message.replace(/\.$/, "") };
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function loadAddress(url: string): Loaded {
  const data = /^data:image\/[a-z.+-]+;base64,/i.exec(url);
  if (data === null) return { problem: "pictures are not fetched from the web, so give the file itself" };
  const encoded = url.slice(data[0].length);
  if (encoded.length > (PICTURE_BYTES / 3) * 4 + 4) return { problem: tooLarge() };
  return pictureOf(Buffer.from(encoded, "base64"));
}

/** The kind is told by the content; a name or a label may be wrong, and a wrong kind fails the whole request. */
function pictureOf(bytes: Buffer): Loaded {
  if (bytes.length > PICTURE_BYTES) return { problem: tooLarge() };
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined) return { problem: "it is no PNG, JPEG, GIF or WebP picture" };
  return { picture: { mediaType, base64: bytes.toString("base64") } };
}

function tooLarge(): string {
  return `it is larger than ${PICTURE_BYTES / 1_000_000} MB`;
}

function mediaTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
