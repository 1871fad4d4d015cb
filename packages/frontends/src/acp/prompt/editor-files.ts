import type { UserInput } from "@flint/protocol";
import { FileAnswer } from "../vocabulary.ts";
import { contextText, LONGEST_RESOURCE } from "./input.ts";

/** Asks the editor for a file. */
export type AskForFile = (path: string) => Promise<unknown>;

/** The input with the text of each linked file behind its link. A file that the editor does not give stays a link. */
export async function withEditorFiles(
  input: readonly UserInput[],
  ask: AskForFile,
): Promise<readonly UserInput[]> {
  const pieces = await Promise.all(input.map(async (piece) => [piece, ...(await textOf(piece, ask))]));
  return pieces.flat();
}

async function textOf(piece: UserInput, ask: AskForFile): Promise<readonly UserInput[]> {
  if (piece.type !== "mention") return [];
  // Expected: an editor that does not have the file, or says no.
  const answer = await ask(piece.path).catch(() => undefined);
  const parsed = FileAnswer.safeParse(answer);
  if (!parsed.success || parsed.data.content.length > LONGEST_RESOURCE) return [];
  return [{ type: "text", text: contextText(piece.path, parsed.data.content) }];
}
