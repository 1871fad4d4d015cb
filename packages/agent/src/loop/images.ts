import { resolve } from "node:path";
import { visibleText } from "@flint/core/text";
import {
  FileAccessError,
  type ImageInput,
  imageFromBytes,
  imageFromDataUrl,
  type LoadedImage,
  MAX_IMAGE_BYTES,
  readPlainFile,
} from "@flint/host/files";
import { errorMessage, inputText, type UserInput } from "@flint/protocol";
import type { Message } from "../models/model.ts";

/** Maximum number of images in one message. */
const MAX_IMAGES = 10;

/** Makes a message of what the user sent. An image that cannot be loaded is named with the reason. Never rejects. */
export async function userMessage(input: readonly UserInput[], cwd: string): Promise<Message> {
  return messageWith(input, await Promise.all(imagesIn(input).map((image) => load(image, cwd))));
}

/** The same for a message of an earlier turn: files are not read again, they may have changed since. */
export function earlierUserMessage(input: readonly UserInput[]): Message {
  return messageWith(
    input,
    imagesIn(input).map((image) =>
      image.type === "image"
        ? imageFromDataUrl(image.url)
        : { problem: "it was shown earlier and is no longer here" },
    ),
  );
}

function imagesIn(input: readonly UserInput[]): ImageInput[] {
  return input.filter((part): part is ImageInput => part.type === "image" || part.type === "localImage");
}

function messageWith(input: readonly UserInput[], loaded: readonly LoadedImage[]): Message {
  const images = loaded.flatMap((each) => ("problem" in each ? [] : [each]));
  const sent = imagesIn(input);
  const problems = loaded.flatMap((each, index) => {
    const image = sent[index];
    return "problem" in each && image !== undefined ? [`(${inputText([image])}: ${each.problem}.)`] : [];
  });
  const omitted = images.length - MAX_IMAGES;
  if (omitted > 0)
    problems.push(`(${omitted} more images were left out: at most ${MAX_IMAGES} can be sent.)`);
  const text = visibleText([inputText(input), ...problems].join("\n"));
  if (images.length === 0) return { role: "user", text };
  return { role: "user", text, images: images.slice(0, MAX_IMAGES) };
}

async function load(image: ImageInput, cwd: string): Promise<LoadedImage> {
  if (image.type === "image") return imageFromDataUrl(image.url);
  // Expected: a file that does not exist, is not a plain file, or may not be read.
  try {
    return imageFromBytes(await readPlainFile(resolve(cwd, image.path), MAX_IMAGE_BYTES));
  } catch (thrown) {
    const message = errorMessage(thrown);
    return { problem: thrown instanceof FileAccessError ? message.replace(/\.$/, "") : message };
  }
}
