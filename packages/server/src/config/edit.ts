import { isDeepStrictEqual } from "node:util";
import { ConfigError, checkValue, parseConfig } from "./parse.ts";

/**
 * The text of a configuration file with one key set. Comments and order stay; a key that is written in a way that
 * cannot be changed safely is refused.
 */
export async function withValue(
  text: string,
  path: readonly string[],
  value: unknown,
  file: string,
): Promise<string> {
  checkValue(path, value, "user");
  const { stringify } = await import("smol-toml");
  const [name = ""] = path.slice(-1);
  const line = stringify({ [name]: value }).trim();
  if (line.includes("\n")) throw new ConfigError(`${path.join(".")} has to be written in ${file} by hand.`);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const table = path.slice(0, -1).join(".");
  const place = placeOf(lines, table, name);
  const next = place.found ? lines.with(place.at, line) : inserted(lines, place, table, line);
  return proved(`${next.join("\n")}\n`, text, path, value, file);
}

/** The text without a key; undefined if it is not in it. */
export async function withoutKey(
  text: string,
  path: readonly string[],
  file: string,
): Promise<string | undefined> {
  const lines = text.split("\n");
  const place = placeOf(lines, path.slice(0, -1).join("."), path.at(-1) ?? "");
  if (!place.found) return undefined;
  return proved(lines.toSpliced(place.at, 1).join("\n"), text, path, undefined, file);
}

/** Where a key stands; if it does not, where its table ends (-1: there is no such table). */
interface Place {
  readonly found: boolean;
  readonly at: number;
}

function placeOf(lines: readonly string[], table: string, name: string): Place {
  let current = "";
  let end = table === "" ? 0 : -1;
  for (const [at, line] of lines.entries()) {
    const [, header] = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line) ?? [];
    if (header !== undefined) current = header.replaceAll(/["'\s]/g, "");
    else if (/^\s*\[\[/.test(line)) current = "\0";
    if (current !== table) continue;
    const [, key] = /^\s*([A-Za-z0-9_-]+|"[^"]*")\s*=/.exec(line) ?? [];
    if (header === undefined && key?.replaceAll('"', "") === name) return { found: true, at };
    if (line.trim() !== "") end = at + 1;
  }
  return { found: false, at: end };
}

function inserted(lines: readonly string[], { at }: Place, table: string, line: string): string[] {
  if (at >= 0) return lines.toSpliced(at, 0, line);
  const gap = lines.length === 0 ? [] : [""];
  return [...lines, ...gap, `[${table}]`, line];
}

/** The new text, if reading it gives what was there before and the change, and nothing else. */
async function proved(
  next: string,
  before: string,
  path: readonly string[],
  value: unknown,
  file: string,
): Promise<string> {
  const wanted = new Map((await parseConfig(before, file, "user")).entries());
  if (value === undefined) wanted.delete(path.join("."));
  else wanted.set(path.join("."), value);
  const problem = () =>
    new ConfigError(`${path.join(".")} stands in ${file} in a way that has to be changed by hand.`);
  const got = await parseConfig(next, file, "user").catch(() => {
    throw problem();
  });
  if (!isDeepStrictEqual(new Map(got.entries()), wanted)) throw problem();
  return next;
}
