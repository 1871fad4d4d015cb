import { resolve } from "node:path";
import {
  embeddedPicture,
  FileRefusal,
  type ImageInput,
  PICTURE_BYTES,
  type Picture,
  pictureOf,
  readPlainFile,
} from "@flint/host/files";
import { inputText, type UserInput } from "@flint/protocol";
import type { Message } from "../models/model.ts";
import { harmlessText } from "../text.ts";

/** How many pictures go with one message. */
const PICTURES = 10;

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
        ? embeddedPicture(image.url)
        : { problem: "it was shown earlier and is not here now" },
    ),
  );
}

function imagesOf(input: readonly UserInput[]): ImageInput[] {
  return input.filter((piece): piece is ImageInput => piece.type === "image" || piece.type === "localImage");
}

function messageWith(input: readonly UserInput[], loaded: readonly Picture[]): Message {
  const pictures = loaded.flatMap((each) => ("problem" in each ? [] : [each]));
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

async function load(image: ImageInput, cwd: string): Promise<Picture> {
  if (image.type === "image") return embeddedPicture(image.url);
  // Expected: a file that is not there, is no plain file, or may not be read.
  try {
    return pictureOf(await readPlainFile(resolve(cwd, image.path), PICTURE_BYTES));
  } catch (thrown) {
    if (thrown instanceof FileRefusal) return { problem: thrown.message.replace(/\.$/, "") };
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
