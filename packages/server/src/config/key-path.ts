import { rowNameOf } from "./keys/table.ts";

/** The table whose names may contain dots: many models have a version in their name. */
const DOTTED_TABLE = "models";

/** Whether a path can be that of a key: only the names of models may contain dots. */
export function hasValidDots([table, ...rest]: readonly string[]): boolean {
  return table === DOTTED_TABLE || rest.every((part) => !part.includes("."));
}

/** A key as TOML writes it: a part that is not a plain word is quoted. */
export function formatKey(path: readonly string[]): string {
  return path.map((part) => (/^[\w-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
}

/**
 * The path of a key that a user wrote. A shell removes quotes, so the name of a model may also be given without them:
 * `models.gpt-6.1.price_input`.
 */
export function parseKey(key: string): readonly string[] {
  const path = [...key.matchAll(/"([^"]*)"|'([^']*)'|([^."']+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
  const [table = "", ...rest] = path;
  if (table !== DOTTED_TABLE || rest.length < 2 || rowNameOf(path) !== undefined) return path;
  const joined = [table, rest.slice(0, -1).join("."), rest.at(-1) ?? ""];
  return rowNameOf(joined) === undefined ? path : joined;
}
