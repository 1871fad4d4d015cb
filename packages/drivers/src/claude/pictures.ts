import { type ImageInput, readPicture } from "@flint/host/files";
import { inputText } from "@flint/protocol";
import type { ClaudeInputBlock } from "@flint/protocol/claude";

/** A picture as a block, or the reason why it cannot be given. Never rejects. */
export async function pictureBlock(image: ImageInput, cwd: string): Promise<ClaudeInputBlock> {
  const picture = await readPicture(image, cwd);
  if ("problem" in picture) return { type: "text", text: `(${inputText([image])}: ${picture.problem}.)` };
  const { mediaType: media_type, base64: data } = picture;
  return { type: "image", source: { type: "base64", media_type, data } };
}
