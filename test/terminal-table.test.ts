import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, readSources } from "./source/files.ts";

test("every point about the terminal has a test that exists, or says what is missing", () => {
  const page = readFileSync(join(ROOT, "docs/contributing/terminal.md"), "utf8");
  const rows = [...page.matchAll(/^\| (\d+) \| ([^|]+) \| ([^|]+) \|([^|]*)\|$/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
  const sources = [...readSources(ROOT, "packages/tui"), ...readSources(ROOT, "test/e2e")];
  const tests = sources.filter(([path]) => /(?:\.test|-story)\.ts$/.test(path)).map(([, text]) => text);
  const wrong = rows.filter(([, , , state = "", cell = ""]) => {
    const titles = [...cell.matchAll(/"([^"]+)"/g)].map(([, title]) => title);
    if (titles.length === 0) return !state.trim().startsWith("no: ");
    const isThere = (title = "") =>
      tests.some((text) => text.includes(`"${title}"`) || text.includes(`\`${title}\``));
    return !titles.every(isThere);
  });
  expect(wrong.map(([row]) => row)).toEqual([]);
});
