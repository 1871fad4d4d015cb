import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { packageNames, ROOT, readSources } from "./source/files.ts";
import { type Token, tokenize } from "./source/tokens.ts";

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

/** Parts of names that the field has other words for. */
const PRIVATE_PARTS: ReadonlyMap<string, string> = new Map([
  ["wanted", "requested, expected"],
  ["places", "positions, paths, workspaces"],
  ["told", "sent, notified, reported"],
  ["tells", "reports, sends"],
  ["tell", "report, send"],
  ["unasked", "agent-initiated, unprompted"],
  ["spent", "usage, exhausted"],
  ["person", "user"],
  ["people", "users"],
  ["nobody", "no client, no one"],
  ["whoever", "anyone"],
  ["signs", "evidence, presence sockets"],
  ["brought", "client-provided"],
  ["follower", "subscriber"],
  ["followers", "subscribers"],
  ["woken", "resumed"],
  ["door", "front end"],
  ["doors", "front ends"],
  ["desk", "client handler"],
  ["guests", "clients"],
  ["keepsake", "provider metadata"],
  ["latitude", "tolerances"],
  ["aftermath", "after-turn"],
]);

/** Names with such a part for which there is no other word: the user of that name on Unix, and the subject of an example. */
const ALLOWED_NAMES: ReadonlySet<string> = new Set([
  ...["runAsNobody", "launchAsNobody", "probeAsNobody", "probeScopeAsNobody", "Person"],
]);

/** Question words that must not open a doc comment, with openings to use instead. */
const QUESTION_WORDS: ReadonlyMap<string, string> = new Map([
  ["What", "Options of …, The part that …, Returns the …"],
  ["How", "The way …, The number of …, The outcome of …, Time within which …"],
  ["Whether", "True if … for a value, Reports whether … for a function"],
  ["Who", "The user that …, The party that …"],
  ["Which", "The … that …"],
  ["That", "Checks that …, Reports that …"],
  ["Where", "The folder of …, The position of …"],
  ["When", "Time at which …"],
  ["Why", "The reason …"],
]);

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
  expect([...sentencesIn("a.ts", tokenize(source))].map(({ text }) => text)).toEqual([
    "// Nobody knows.",
    "whoever ",
  ]);
});

test("names of identifiers and files use the words of the field", () => {
  const found = codeFiles().flatMap(([path, tokens]) => {
    const names = tokens.filter(({ kind, text }) => kind === "word" && !ALLOWED_NAMES.has(text));
    return [
      ...privateParts(path.split("/").at(-1) ?? "").map((fault) => `${path}: ${fault}`),
      ...names.flatMap(({ text, line }) =>
        privateParts(text).map((fault) => `${path}:${line}: ${text}: ${fault}`),
      ),
    ];
  });
  expect(found).toEqual([]);
});

test("doc comments open with a statement, not with a question word", () => {
  const found = codeFiles().flatMap(([path, tokens]) =>
    tokens.flatMap(({ kind, text, line }) =>
      kind === "comment" ? questionsIn(text).map((instead) => `${path}:${line}: write: ${instead}`) : [],
    ),
  );
  expect(found).toEqual([]);
});

test("a private word is found in each form of a name, and not inside of another word", () => {
  const names = [
    "#wantedPath",
    "isTold",
    "TOLD_TOKENS",
    "news-places.ts",
    "untold",
    "replaces",
    "personality",
  ];
  expect(names.map((name) => privateParts(name).length)).toEqual([1, 1, 1, 1, 0, 0, 0]);
});

test("a question word is found at the start of a doc comment only", () => {
  const planted = [...QUESTION_WORDS.keys()].flatMap((word) => [
    `/** ${word} the merge ended. */`,
    `/**\n * ${word} the merge ended.\n */`,
  ]);
  const plain = ["/** Reports how it ended. */", "// What is allowed is a rule.", "/** Whatever it is. */"];
  expect([...planted, ...plain].filter((comment) => questionsIn(comment).length > 0)).toEqual(planted);
});

/** Returns what to write instead of a question word that opens a doc comment; empty if none does. */
function questionsIn(comment: string): string[] {
  const word = /^\/\*\*[\s*]+(\w+)\b/.exec(comment)?.[1] ?? "";
  const instead = QUESTION_WORDS.get(word);
  return instead === undefined ? [] : [instead];
}

/** Returns the replacements for each private part of a name in camel case, in capitals, or with hyphens. */
function privateParts(name: string): string[] {
  const parts = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase());
  return parts.flatMap((part) => {
    const instead = PRIVATE_PARTS.get(part);
    return instead === undefined ? [] : [`${part} (write: ${instead})`];
  });
}

let files: readonly (readonly [path: string, tokens: readonly Token[]])[] | undefined;

/** Every source file but this one, which has to name them. */
function codeFiles() {
  const folders = [...packageNames(ROOT).map((name) => `packages/${name}/src`), "test", "scripts", "bench"];
  files ??= folders
    .flatMap((folder) => [...readSources(ROOT, folder)])
    .filter(([path]) => path !== "test/language.test.ts")
    .map(([path, source]) => [path, tokenize(source)] as const);
  return files;
}

/** Every comment and every string with more than one word of the source, and every line of the docs. */
function* sentences(): Generator<{ place: string; text: string }> {
  for (const [path, tokens] of codeFiles()) yield* sentencesIn(path, tokens);
  for (const path of pages()) {
    const lines = readFileSync(join(ROOT, path), "utf8").split("\n");
    yield* lines.map((text, index) => ({ place: `${path}:${index + 1}`, text }));
  }
}

function* sentencesIn(path: string, tokens: readonly Token[]): Generator<{ place: string; text: string }> {
  for (const { kind, text, line } of tokens) {
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
