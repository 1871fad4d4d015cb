import { isTable } from "@flint/server/config";
import { UsageError } from "../../arguments.ts";

/** The `--config` options of a command line as one document; a later one wins over an earlier one. */
export async function readOverrides(given: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const document: Record<string, unknown> = {};
  for (const override of given) {
    const at = override.indexOf("=");
    if (at <= 0) throw new UsageError(`--config takes KEY=VALUE; not ${JSON.stringify(override)}.`);
    const path = override.slice(0, at).trim().split(".");
    if (path.some((name) => name === "" || name === "__proto__")) {
      throw new UsageError(`--config ${JSON.stringify(override.slice(0, at))} is no key.`);
    }
    put(document, path, await tomlValue(override.slice(at + 1)));
  }
  return document;
}

function put(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    into[name] = value;
    return;
  }
  const inner = into[name];
  const table = isTable(inner) ? inner : {};
  into[name] = table;
  put(table, rest, value);
}

/** Codex takes what is no TOML as a text. */
async function tomlValue(text: string): Promise<unknown> {
  const { parse } = await import("smol-toml");
  // Expected: a text without quotes.
  try {
    return parse(`value = ${text}`).value;
  } catch {
    return text.trim();
  }
}
