import type { TurnContext } from "@flint/core/ports";
import { type ImageInput, readImage } from "@flint/host/files";
import { inputText, type UserInput } from "@flint/protocol";
import type { ClaudeInputBlock } from "@flint/protocol/claude";

const MAX_IMAGES = 10;

/** The prompt of a turn as Claude takes it: the handoff summary, if there is one, and the user's input. */
export async function turnBlocks(turn: TurnContext, handoffSummary: string): Promise<ClaudeInputBlock[]> {
  if (turn.kind === "compact") return [{ type: "text", text: "/compact" }];
  const blocks = await inputBlocks(turn.input, turn.settings.cwd);
  return handoffSummary === "" ? blocks : [{ type: "text", text: handoffSummary }, ...blocks];
}

/** The user's input as blocks. An image that cannot be read is replaced by the reason. Never rejects. */
export async function inputBlocks(input: readonly UserInput[], cwd: string): Promise<ClaudeInputBlock[]> {
  const images = input.filter((piece) => piece.type === "image" || piece.type === "localImage");
  const blocks = await Promise.all(images.slice(0, MAX_IMAGES).map((image) => imageBlock(image, cwd)));
  return [...blocks, { type: "text", text: inputText(input) }];
}

/** The metadata of all pieces of an input together; undefined if there is none. */
export function inputMeta(input: readonly UserInput[]): Readonly<Record<string, unknown>> | undefined {
  const metas = input.flatMap(({ _meta }) => _meta ?? []);
  return metas.length === 0 ? undefined : Object.assign({}, ...metas);
}

async function imageBlock(image: ImageInput, cwd: string): Promise<ClaudeInputBlock> {
  const picture = await readImage(image, cwd);
  if ("problem" in picture) return { type: "text", text: `(${inputText([image])}: ${picture.problem}.)` };
  const { mediaType: media_type, base64: data } = picture;
  return { type: "image", source: { type: "base64", media_type, data } };
}
