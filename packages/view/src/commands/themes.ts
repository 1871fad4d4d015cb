/** The colours that a session can have, with a description of each. */
export const THEMES = {
  auto: "matches your terminal's background",
  dark: "for a dark background",
  light: "for a light background",
  plain: "no colours",
} as const;

/** The colours of a session. */
export type Theme = keyof typeof THEMES;

/** All themes, in the order of the table. */
export const THEME_NAMES: readonly Theme[] = Object.keys(THEMES).filter(isTheme);

/** The theme of a session unless the configuration says otherwise. */
export const DEFAULT_THEME: Theme = "auto";

/** Whether a name is that of a theme. */
export function isTheme(name: string): name is Theme {
  return Object.hasOwn(THEMES, name);
}
