/** The words and marks by which a line of code is split. */
export interface Language {
  readonly keywords: ReadonlySet<string>;
  readonly lineComments: readonly string[];
  readonly blockComments: readonly (readonly [string, string])[];
  /** Quotes of strings that end on their line. */
  readonly strings: readonly string[];
  /** Quotes of strings that may have several lines. */
  readonly longStrings: readonly string[];
}

const C_LIKE = {
  lineComments: ["//"],
  blockComments: [["/*", "*/"]],
  strings: ['"', "'"],
  longStrings: [],
} as const;

const HASH = { lineComments: ["#"], blockComments: [], strings: ['"', "'"], longStrings: [] } as const;

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

const SCRIPT: Language = {
  ...C_LIKE,
  longStrings: ["`"],
  keywords: words(
    "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let new null of override private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield",
  ),
};

const LANGUAGES: Readonly<Record<string, Language>> = {
  javascript: SCRIPT,
  python: {
    ...HASH,
    longStrings: ['"""', "'''"],
    keywords: words(
      "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
    ),
  },
  rust: {
    ...C_LIKE,
    strings: ['"'],
    keywords: words(
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    ),
  },
  go: {
    ...C_LIKE,
    longStrings: ["`"],
    keywords: words(
      "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var",
    ),
  },
  c: {
    ...C_LIKE,
    keywords: words(
      "auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final finally float for friend goto if inline int long namespace new nullptr operator override private protected public register return short signed sizeof static struct super switch template this throw true try typedef typename union unsigned using virtual void volatile while #include #define #if #ifdef #endif #else",
    ),
  },
  java: {
    ...C_LIKE,
    longStrings: ['"""'],
    keywords: words(
      "abstract boolean break by case catch char class companion const continue data default do double else enum extends false final finally float for fun if implements import in instanceof int interface internal is lateinit long new null object open override package private protected public record return sealed short static super switch this throw throws true try val var void when where while",
    ),
  },
  shell: {
    ...HASH,
    keywords: words(
      "break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in local read readonly return set shift source test then trap unset until while",
    ),
  },
  json: { ...C_LIKE, keywords: words("true false null") },
  yaml: { ...HASH, keywords: words("true false null yes no on off") },
  toml: { ...HASH, longStrings: ['"""', "'''"], keywords: words("true false") },
  ruby: {
    ...HASH,
    keywords: words(
      "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true unless until when while yield",
    ),
  },
  sql: {
    lineComments: ["--"],
    blockComments: [["/*", "*/"]],
    strings: ["'", '"'],
    longStrings: [],
    keywords: words(
      "ALTER AND AS ASC BEGIN BETWEEN BY CASE COMMIT CREATE DELETE DESC DISTINCT DROP ELSE END EXISTS FROM FULL GROUP HAVING IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL ON OR ORDER OUTER PRIMARY REFERENCES RIGHT SELECT SET TABLE THEN UNION UNIQUE UPDATE VALUES WHEN WHERE WITH alter and as asc begin between by case commit create delete desc distinct drop else end exists from full group having in index inner insert into is join key left like limit not null on or order outer primary references right select set table then union unique update values when where with",
    ),
  },
  css: {
    ...C_LIKE,
    lineComments: [],
    keywords: words("important inherit initial none auto import media keyframes supports"),
  },
  html: {
    lineComments: [],
    blockComments: [["<!--", "-->"]],
    strings: ['"'],
    longStrings: [],
    keywords: words(
      "a body button class code div form h1 h2 h3 head href html id img input li link meta ol p script section span style src svg table td th title tr ul",
    ),
  },
};

const NAMES: Readonly<Record<string, keyof typeof LANGUAGES>> = {
  ...{ js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript", node: "javascript" },
  ...{ ts: "javascript", tsx: "javascript", typescript: "javascript", mts: "javascript", cts: "javascript" },
  ...{ py: "python", python3: "python", rs: "rust", golang: "go", rb: "ruby" },
  ...{
    h: "c",
    cc: "c",
    cpp: "c",
    "c++": "c",
    hpp: "c",
    cs: "c",
    csharp: "c",
    "c#": "c",
    objc: "c",
    swift: "c",
  },
  ...{ kt: "java", kotlin: "java", scala: "java", groovy: "java", php: "javascript", dart: "java" },
  ...{ sh: "shell", bash: "shell", zsh: "shell", fish: "shell", console: "shell", dockerfile: "shell" },
  ...{ make: "shell", makefile: "shell", jsonc: "json", json5: "json", jsonl: "json", yml: "yaml" },
  ...{ ini: "toml", conf: "toml", scss: "css", less: "css", xml: "html", svg: "html", vue: "html" },
};

/** The language of this name or file extension; undefined if it is not known. */
export function languageNamed(name: string): Language | undefined {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : name;
  return known !== undefined && Object.hasOwn(LANGUAGES, known) ? LANGUAGES[known] : undefined;
}
