import * as z from "zod/mini";
import { Id } from "../wire/ids.ts";
import { looseObject } from "../wire/loose-object.ts";

/** One part of the user's input. */
export const UserInput = z.discriminatedUnion("type", [
  looseObject(() => ({ type: z.literal("text"), text: z.string() })),
  looseObject(() => ({ type: z.literal("image"), url: z.string() })),
  looseObject(() => ({ type: z.literal("localImage"), path: z.string() })),
  looseObject(() => ({ type: z.literal("skill"), name: z.string(), path: z.optional(z.string()) })),
  looseObject(() => ({ type: z.literal("mention"), name: z.string(), path: z.string() })),
]);
export type UserInput = z.output<typeof UserInput>;

/** An input as plain text. */
export function inputText(input: readonly UserInput[]): string {
  return input.map(pieceText).join("\n");
}

function pieceText(piece: UserInput): string {
  switch (piece.type) {
    case "text":
      return piece.text;
    case "image":
      return piece.url.startsWith("data:") ? "[image]" : `[image ${piece.url}]`;
    case "localImage":
      return `[image ${piece.path}]`;
    case "skill":
      return `[skill ${piece.name}]`;
    case "mention":
      return `@${piece.path}`;
  }
}

/** A text as a piece of input. */
export function textInput(text: string): UserInput {
  return { type: "text", text };
}

/** An input that waits for the running turn to end. */
export const QueuedInput = looseObject(() => ({
  id: Id,
  input: z.array(UserInput),
  createdAtMs: z.number(),
  clientId: z.optional(z.string()),
  /** The name of the client that sent it, as it gave it. */
  client: z.optional(z.string()),
}));
export type QueuedInput = z.output<typeof QueuedInput>;
