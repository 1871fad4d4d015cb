import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageNames, ROOT, readSources } from "./source/files.ts";

const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").replace(/^```[\s\S]*?^```/gm, "");
const path = `((?:${packageNames(ROOT).join("|")})/src(?:/[\\w.-]+)*)`;

/** Every path that the page names. */
const paths = [...page.matchAll(new RegExp(`\`${path}\``, "g"))].map(([, file = ""]) => file);

/** Every symbol that directly follows the path of its file. */
const symbols = [...page.matchAll(new RegExp(`\`${path}\`\\s+\`(\\w+)\``, "g"))].map(
  ([, file = "", symbol = ""]) => ({ file, symbol }),
);

test("ARCHITECTURE.md names files that exist", () => {
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((file) => !existsSync(join(ROOT, "packages", file)))).toEqual([]);
});

test("ARCHITECTURE.md names symbols that their files have", () => {
  expect(symbols.length).toBeGreaterThan(30);
  const missing = symbols.filter(({ file, symbol }) => {
    const source = join(ROOT, "packages", file);
    return !existsSync(source) || !new RegExp(`\\b${symbol}\\b`).test(readFileSync(source, "utf8"));
  });
  expect(missing).toEqual([]);
});

test("ARCHITECTURE.md names no type, function or table that the source does not have", () => {
  // camelCase, PascalCase or UPPER_CASE: what is written in lower case alone may also be a word of a command or a wire.
  const names = [...page.matchAll(/`([A-Za-z_]*[A-Z][A-Za-z_]*)`/g)].map(([, name = ""]) => name);
  const sources = [...readSources(ROOT, "packages").values()];
  const words = new Set(sources.flatMap((text) => text.match(/\w+/g) ?? []));
  expect(new Set(names).size).toBeGreaterThan(80);
  expect([...new Set(names)].filter((name) => !words.has(name))).toEqual([]);
});

test("ARCHITECTURE.md lists every package", () => {
  const [table = ""] = page.split("## Decisions");
  const listed = [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = ""]) => name);
  expect(listed.sort()).toEqual(packageNames(ROOT));
});

/**
 * The files in which Flint's item types are defined, an example of each for tests, and the wire of Codex,
 * which has its own.
 */
const NO_MAPPINGS = new Set([
  ...["protocol/src/items.ts", "view/src/testing/every-item.ts"],
  ...["protocol/src/codex/items.ts", "drivers/src/codex/translate/items.ts"],
]);

test("ARCHITECTURE.md names every file that a new item type has to be added to", () => {
  const [, adding = ""] = page.split("- **An item type**");
  const [entry = ""] = adding.split("- **A driver**");
  const named = [...entry.matchAll(new RegExp(`\`${path}\``, "g"))].map(([, file = ""]) => file);
  const mappings = [...readSources(ROOT, "packages")]
    .filter(([file, text]) => !/\.test\.ts$/.test(file) && MAPS_EVERY_ITEM.test(text))
    .map(([file]) => file.replace("packages/", ""))
    .filter((file) => !NO_MAPPINGS.has(file));
  expect(mappings.sort()).toEqual(named.sort());
});

/** The rarest item type: a switch or table that has it has all of them. */
const MAPS_EVERY_ITEM = /case "contextCompaction":|^\s+contextCompaction:/m;
