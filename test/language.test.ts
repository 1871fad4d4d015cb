import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { packageNames, ROOT, readSources } from "./source/files.ts";
import { tokenize } from "./source/tokens.ts";

/** Words that only this project used, and what the field says instead. */
const PRIVATE_WORDS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bnobody\b/i, "no client, no one"],
  [/\bwhoever\b/i, "anyone who"],
  [/\b(?:is|are|was|were|be) told\b/i, "is sent, is notified, receives"],
  [/\banew\b/i, "again"],
  [/\b(?:a|the) person\b/i, "the user"],
  [/\bput to rest\b/i, "unloaded, stopped"],
  [/\b(?:keepsake|latitude|aftermath)s?\b/i, "see the glossary"],
  [/\bspeaks? of\b/i, "refers to"],
  [/\bbrought (?:no|a|the)\b/i, "returned, produced"],
];

test("comments, messages, test titles and docs use the words of the field", () => {
  const found = [...sentences()].flatMap(({ place, text }) =>
    PRIVATE_WORDS.filter(([pattern]) => pattern.test(text)).map(
      ([pattern, instead]) => `${place}: ${pattern.exec(text)?.[0]} (write: ${instead})`,
    ),
  );
  expect(found).toEqual([]);
});

test("a private word is found in a comment and in a message, and not in a name", () => {
  const source = `const nobody = "nobody"; // Nobody knows.\nsay(\`whoever \${it} is\`);`;
  expect([...sentencesIn("a.ts", source)].map(({ text }) => text)).toEqual(["// Nobody knows.", "whoever "]);
});

/** Every comment and every string with more than one word of the source, and every line of the docs. */
function* sentences(): Generator<{ place: string; text: string }> {
  const folders = [...packageNames(ROOT).map((name) => `packages/${name}/src`), "test", "scripts", "bench"];
  for (const folder of folders) {
    for (const [path, source] of readSources(ROOT, folder)) {
      // This file has to name them.
      if (path !== "test/language.test.ts") yield* sentencesIn(path, source);
    }
  }
  for (const path of pages()) {
    const lines = readFileSync(join(ROOT, path), "utf8").split("\n");
    yield* lines.map((text, index) => ({ place: `${path}:${index + 1}`, text }));
  }
}

function* sentencesIn(path: string, source: string): Generator<{ place: string; text: string }> {
  for (const { kind, text, line } of tokenize(source)) {
    const isText = kind === "comment" || kind === "string" || kind === "template";
    if (isText && /\w \w|\w $/.test(text)) yield { place: `${path}:${line}`, text };
  }
}

/** The pages that people write. */
function pages(): string[] {
  const entries = readdirSync(join(ROOT, "docs"), { recursive: true, withFileTypes: true });
  const docs = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".md"));
  return [
    ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"],
    ...docs.map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  ];
}
