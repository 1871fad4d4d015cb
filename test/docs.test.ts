import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { anchor } from "../scripts/generate/markdown.ts";
import { ROOT } from "./source/files.ts";

const written = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => join("docs", name));
const pages = new Map(
  ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...written].map((name) => [
    name,
    readFileSync(join(ROOT, name), "utf8"),
  ]),
);

/** The anchors of a page's headings. Code blocks have none. */
function headingsOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchor(heading));
}

/** Links to files and headings of this repository. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

const PERMISSION_TESTS = "docs/contributing/permission-tests.md";

/** The test files of a page, each with the title that follows it in quotes. */
function quotedTests(text: string): [file: string, title: string][] {
  return [...text.matchAll(/\]\(([^)]+\.test\.ts)\) "([^"]+)"/g)].map(([, file = "", title = ""]) => [
    file,
    title,
  ]);
}

describe("the documentation", () => {
  test("has an index that names every page", () => {
    const index = [...linksOf(pages.get("docs/README.md") ?? "")].map((link) =>
      join("docs", link.split("#")[0] ?? ""),
    );
    const listed = (page: string) =>
      index.some((entry) => page === entry || (entry.endsWith("/") && page.startsWith(entry)));
    const missing = [...pages.keys()].filter(
      (page) => page.startsWith("docs/") && page !== "docs/README.md" && !listed(page),
    );
    expect(missing).toEqual([]);
  });

  test.each([...pages])("links from %s only to files and headings that exist", (page, text) => {
    const broken = linksOf(text).filter((link) => {
      const [file = "", heading] = link.split("#");
      const path = file === "" ? page : join(dirname(page), file);
      if (!existsSync(join(ROOT, path))) return true;
      return heading !== undefined && !headingsOf(pages.get(path) ?? "").includes(heading);
    });
    expect(broken).toEqual([]);
  });

  test.each(quotedTests(pages.get(PERMISSION_TESTS) ?? ""))("finds in %s the test %j", (file, title) => {
    const text = readFileSync(join(ROOT, dirname(PERMISSION_TESTS), file), "utf8");
    expect(text).toContain(title);
  });

  test.each([...pages].filter(([page]) => /^docs\/(?:start|guides)/.test(page)))(
    "names no source file in the user page %s",
    (_page, text) => {
      expect(text.match(/\b\w+\/src\/[\w/-]+\.ts\b/g) ?? []).toEqual([]);
    },
  );
});
