import type { CommandId } from "@flint/view/commands";
import { keyLabel } from "../input/index.ts";
import type { SessionContext } from "../session/context.ts";

/** The first key of a command, as a page names it: a letter is itself. */
export function keyName({ keymap, look }: Pick<SessionContext, "keymap" | "look">, id: CommandId): string {
  const [chord = ""] = keymap.keys[id];
  return chord.length === 1 ? chord : keyLabel(chord, look.unicode);
}
