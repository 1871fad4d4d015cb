/** What the line below the composer can show, and what each part is. */
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

/** What the line shows unless the configuration says otherwise. */
export const DEFAULT_STATUS_LINE: readonly StatusPart[] = [
  ...(["threads", "model", "permissions", "context", "help"] as const),
];

/** Whether a name is that of a part of the line. */
export function isStatusPart(name: string): name is StatusPart {
  return Object.hasOwn(STATUS_PARTS, name);
}
