import { GENERATED } from "./markdown.ts";

const PLACE = /^\{\{(\w+)\}\}$/gm;

/**
 * A page written by hand with its generated parts put in: each stands in the text as `{{name}}` on a line of its own.
 * Throws for a place that nothing fills and for a part that has no place.
 */
export function fillProse(prose: string, parts: Readonly<Record<string, string>>): string {
  const unused = new Set(Object.keys(parts));
  const text = prose.replace(PLACE, (place, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`Nothing fills ${place}.`);
    unused.delete(name);
    return part;
  });
  if (unused.size > 0) throw new Error(`The prose has no place for ${[...unused].join(", ")}.`);
  return `${GENERATED}\n\n${text.trimEnd()}\n`;
}
