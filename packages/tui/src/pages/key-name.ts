import { type CommandId, type Keymap, keymapOf } from "@flint/view/commands";
import type { RenderOptions } from "../draw/render-options.ts";
import { keyLabel } from "../input/index.ts";

type Keys = Pick<RenderOptions, "keys" | "unicode">;

/** The first key of a command, as hints name it: a letter is itself. Empty if the user has left it without one. */
export function keyIn(look: Keys, id: CommandId): string {
  return labelOf(keysOf(look)[id][0], look);
}

/** The key of a command that closes something, as hints name it: if possible not one that interrupts a turn instead. */
export function closeKeyIn(look: Keys, id: CommandId): string {
  const keys = keysOf(look);
  return labelOf(keys[id].find((chord) => !keys.interruptTurn.includes(chord)) ?? keys[id][0], look);
}

/** Returns hints on keys: `Enter open`. Commands without a key are left out. */
export function hintsIn(look: Keys, hints: readonly (readonly [CommandId, string])[]): string[] {
  return hints.flatMap(([id, what]) => hint(keyIn(look, id), what));
}

/** The key that closes something, and what it does, like other hints. */
export function closeHint(look: Keys, id: CommandId, what = "close"): string[] {
  return hint(closeKeyIn(look, id), what);
}

/** The first key of a command in a session. */
export function keyName(
  { keymap, look }: { readonly keymap: Keymap; readonly look: RenderOptions },
  id: CommandId,
): string {
  return keyIn({ keys: keymap.keys, unicode: look.unicode }, id);
}

function hint(key: string, what: string): string[] {
  return key === "" ? [] : [`${key} ${what}`];
}

function keysOf({ keys }: Keys): NonNullable<RenderOptions["keys"]> {
  return keys ?? keymapOf().keys;
}

function labelOf(chord = "", { unicode }: Keys): string {
  return chord.length === 1 ? chord : keyLabel(chord, unicode);
}
