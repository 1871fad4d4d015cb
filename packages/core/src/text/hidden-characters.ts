import { lazy } from "@flint/protocol";

/**
 * Characters that a person does not see, or that change how what follows is shown: controls, marks that turn the
 * writing direction, joiners and tags, blanks that are no space, and letters without a shape. A tab and a line end are
 * seen as what they are. Made when first asked for: to look up every character there is takes long.
 */
const hidden = lazy(
  () =>
    // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
    /[^\P{C}\t\n]|[\p{Zl}\p{Zp}]|[^\P{Zs} ]|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]|[\u{e0100}-\u{e01ef}]/u,
);

/** Whether a text holds something that a person who reads it would not notice. */
export function hasHiddenCharacters(text: string): boolean {
  return hidden().test(text);
}
