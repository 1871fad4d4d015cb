import type { ConfigOption } from "@flint/protocol";

/** How hard an agent thinks is a selector of its own; agents of Flint and of ACP name it in one of these ways. */
const ID = "reasoning_effort";
const CATEGORY = "thought_level";

/** The value of a selector that an effort means; undefined where the agent has no such selector or no such value. */
export function effortValue(
  options: readonly ConfigOption[],
  effort: string,
): Readonly<Record<string, string>> | undefined {
  const selector = options.find(({ id, category }) => id === ID || category === CATEGORY);
  const offered = selector?.options.some(({ id }) => id === effort);
  return selector === undefined || offered !== true ? undefined : { [selector.id]: effort };
}
