import type { TurnContext } from "@flint/core/ports";
import { inputText, type UserInput } from "@flint/protocol";
import type { ClaudeInputBlock } from "@flint/protocol/claude";
import { pictureBlock } from "./pictures.ts";

/** How many pictures go with one message. */
const MOST_PICTURES = 10;

/** What the user sends, as blocks. A picture that cannot be given is named with the reason. Never rejects. */
export async function inputBlocks(input: readonly UserInput[], cwd: string): Promise<ClaudeInputBlock[]> {
  const images = input.filter((piece) => piece.type === "image" || piece.type === "localImage");
  const pictures = await Promise.all(images.slice(0, MOST_PICTURES).map((image) => pictureBlock(image, cwd)));
  return [...pictures, { type: "text", text: inputText(input) }];
}

/** The metadata of what the user sends, all pieces together; undefined if there is none. */
export function inputMeta(input: readonly UserInput[]): Readonly<Record<string, unknown>> | undefined {
  const metas = input.flatMap(({ _meta }) => _meta ?? []);
  return metas.length === 0 ? undefined : Object.assign({}, ...metas);
}

/** What a turn begins with: what Claude has to be told first, and what the user sends. */
export async function turnBlocks(turn: TurnContext, account: string): Promise<ClaudeInputBlock[]> {
  if (turn.kind === "compact") return [{ type: "text", text: "/compact" }];
  const blocks = await inputBlocks(turn.input, turn.settings.cwd);
  const before: ClaudeInputBlock[] = account === "" ? [] : [{ type: "text", text: account }];
  return [...before, ...blocks];
}
