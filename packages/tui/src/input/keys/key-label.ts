/** The labels of keys on keyboards, where they differ from their names in the configuration. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ...([
    ["escape", "Esc"],
    ["pageup", "PgUp"],
    ["pagedown", "PgDn"],
    ["delete", "Del"],
    ["insert", "Ins"],
  ] as const),
]);

const ARROWS: ReadonlyMap<string, string> = new Map([
  ...([
    ["up", "\u2191"],
    ["down", "\u2193"],
    ["left", "\u2190"],
    ["right", "\u2192"],
  ] as const),
]);

/** Keys as a help page shows them: `ctrl+alt+x` is `Ctrl+Alt+X`, and `escape escape` is `Esc Esc`. */
export function keyLabel(chord: string, unicode = true): string {
  return chord
    .split(" ")
    .map((press) => pressLabel(press, unicode))
    .join(" ");
}

function pressLabel(press: string, unicode: boolean): string {
  // The key itself may be a plus.
  const parts = press.endsWith("+") ? [...press.slice(0, -1).split("+").slice(0, -1), "+"] : press.split("+");
  const key = parts.pop() ?? "";
  const arrow = unicode ? ARROWS.get(key) : undefined;
  return [...parts.map(capitalized), arrow ?? LABELS.get(key) ?? capitalized(key)].join("+");
}

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
