/** The possible parts of the line below the composer, with a description of each. */
export const STATUS_PARTS = {
  threads: "other threads that are waiting for you, running or failed",
  agent: "the agent",
  model: "the model",
  permissions: "what the agent may do",
  folder: "the folder",
  branch: "the branch in it",
  name: "the name of the thread",
  goal: "the goal of the thread",
  context: "how much of the context is used",
  tokens: "the tokens that the thread has used",
  cost: "what the thread has cost",
  limits: "the usage limits of the agent's account",
  help: "the key for help",
} as const;

/** A part of the line below the composer. */
export type StatusPart = keyof typeof STATUS_PARTS;

/** All parts, in the order of the table. */
export const STATUS_PART_NAMES: readonly StatusPart[] = Object.keys(STATUS_PARTS).filter(isStatusPart);

/** The parts of the line unless the configuration chooses others. */
export const DEFAULT_STATUS_LINE: readonly StatusPart[] = [
  ...(["threads", "model", "permissions", "context", "help"] as const),
];

/** Reports whether a name is that of a part of the line. */
export function isStatusPart(name: string): name is StatusPart {
  return Object.hasOwn(STATUS_PARTS, name);
}

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

/** Reports whether a name is that of a theme. */
export function isTheme(name: string): name is Theme {
  return Object.hasOwn(THEMES, name);
}
