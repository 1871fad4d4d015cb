/** The folder at which a sandbox shows its broker. */
export const BROKER_FOLDER = "/run/flint/broker";

/** The hook program in that folder, for agents that call one before each command and take a changed command from it. */
export const BROKER_HOOK = `${BROKER_FOLDER}/hook.sh`;

/** The grants for commands that passed the hook, by the id of the agent's item. */
export const GRANTS_FOLDER = `${BROKER_FOLDER}/grants`;

/**
 * The text that the hook puts before a command, up to the id: if there is a grant for it by then, the grant
 * runs instead.
 */
export const GRANT_CHECK = {
  before: `test -e ${GRANTS_FOLDER}/`,
  between: ` && exec /bin/sh ${GRANTS_FOLDER}/`,
} as const;

const ID = /^[A-Za-z0-9_-]{1,200}$/;

/** Reports whether an id can be the name of a grant. */
export function isGrantName(id: string): boolean {
  return ID.test(id);
}

/** Splits a command text that passed the hook into the name of its grant and the command itself. */
export function readGrantCheck(text: string): {
  readonly name: string | undefined;
  readonly command: string;
} {
  const { before, between } = GRANT_CHECK;
  const end = text.indexOf("\n");
  if (!text.startsWith(before) || end < 0) return { name: undefined, command: text };
  const [name = "", again] = text.slice(before.length, end).split(between);
  if (name !== again || !isGrantName(name)) return { name: undefined, command: text };
  return { name, command: text.slice(end + 1) };
}
