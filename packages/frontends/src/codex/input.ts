import type { UserInput } from "@flint/protocol";
import type { CodexUserInput } from "@flint/protocol/codex";
import { refused } from "./refusals.ts";

/** What a user sent, in Flint's words. Throws for sounds, and for nothing at all. */
export function userInputOf(input: readonly CodexUserInput[]): UserInput[] {
  if (input.length === 0) throw refused("Invalid request: `input` must hold at least one piece");
  return input.map(pieceOf);
}

function pieceOf(piece: CodexUserInput): UserInput {
  switch (piece.type) {
    case "text":
      return { type: "text", text: piece.text };
    case "image":
      return { type: "image", url: piece.url };
    case "localImage":
      return { type: "localImage", path: piece.path };
    case "skill":
    case "mention":
      return { type: piece.type, name: piece.name, path: piece.path };
    case "audio":
    case "localAudio":
      throw refused("Invalid request: Flint has no agent that could hear sounds; send what is said as text");
  }
}
