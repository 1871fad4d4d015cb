import type { UserInput } from "@flint/protocol";
import type { CodexUserInput } from "@flint/protocol/codex";
import { refused } from "./refusals.ts";
import { unknownVariant } from "./serde-text.ts";

/** What Codex takes, of which sounds are nothing that Flint could give to its agents. */
const KNOWN = ["text", "image", "localImage", "audio", "localAudio", "skill", "mention"];

/** What a user sent, in Flint's words. Throws for what is none of Codex's, or nothing at all. */
export function userInputOf(input: readonly CodexUserInput[]): UserInput[] {
  if (input.length === 0) throw refused("Invalid request: `input` must hold at least one piece");
  return input.map(pieceOf);
}

function pieceOf(piece: CodexUserInput): UserInput {
  if ("text" in piece) return { type: "text", text: piece.text };
  if ("url" in piece && piece.type === "image") return { type: "image", url: piece.url };
  if ("name" in piece) return { type: piece.type, name: piece.name, path: piece.path };
  if ("path" in piece && piece.type === "localImage") return { type: "localImage", path: piece.path };
  if (!KNOWN.includes(piece.type)) throw refused(`Invalid request: ${unknownVariant(piece.type, KNOWN)}`);
  throw refused(`Invalid request: an input of the type \`${piece.type}\` is not supported in this form`);
}
