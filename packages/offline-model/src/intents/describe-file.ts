import { count, listed } from "./reports.ts";

const LANGUAGES: Readonly<Record<string, string>> = {
  ts: "TypeScript",
  tsx: "TypeScript",
  js: "JavaScript",
  mjs: "JavaScript",
  cjs: "JavaScript",
  jsx: "JavaScript",
  py: "Python",
  rs: "Rust",
  go: "Go",
  rb: "Ruby",
  java: "Java",
  c: "C",
  h: "C",
  cpp: "C++",
  cs: "C#",
  php: "PHP",
  sh: "shell script",
  md: "Markdown",
  json: "JSON",
  toml: "TOML",
  yaml: "YAML",
  yml: "YAML",
  html: "HTML",
  css: "CSS",
  sql: "SQL",
  txt: "plain text",
};

/** What a line defines, over many languages; the name is the last group that is there. */
const DEFINITION =
  /^(?:export\s+)?(?:default\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:public\s+|private\s+|protected\s+|static\s+|abstract\s+|async\s+|final\s+|declare\s+)*(?:function\*?|class|interface|type|enum|struct|trait|impl|def|fn|func|module|const|let|var)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)/;
const IMPORT = /^\s*(?:import\b|from\s+\S+\s+import\b|use\s+[\w:]+|#include\b|require\b)/;
const SHOWN_TEXT = 400;

/** A file in a few sentences, from what can be seen without understanding it. */
export function describeFile(path: string, text: string): string {
  if (text.trim() === "") return `${path} is empty.`;
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const lines = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.slice(0, SHOWN_TEXT));
  const language = LANGUAGES[ending];
  const first = `${path} has ${count(lines.length, "line")}${language === undefined ? "" : ` of ${language}`}.`;
  if (ending === "json") return [first, ...jsonNames(text)].join("\n\n");
  const parts = ending === "md" ? headings(lines) : definitions(lines);
  return [first, ...(ending === "md" ? [] : beginning(lines)), ...parts, REMARK].join("\n\n");
}

/** What is said with every description. */
export const REMARK = "I follow fixed rules: I can tell what is there, but not judge it.";

/** The words at the top that people write to say what a file is for. */
function beginning(lines: readonly string[]): string[] {
  const words = lines
    .slice(0, 30)
    .map(
      (line) =>
        /^\s*(?:\/\/+|#+!?|\*+(?!\/)|\/\*\*?|--|"""|;+|<!--)?\s*(.*?)\s*(?:\*\/|-->)?$/.exec(line)?.[1] ?? "",
    );
  const start = lines.findIndex((line) => /^\s*(?:\/\/|\/\*|#(?!!|include)|"""|--|\w.*[a-z]{3})/i.test(line));
  const isComment = /^\s*(?:\/\/|\/\*|#(?!!|include)|"""|--)/.test(lines[start] ?? "");
  if (!isComment) return [];
  const end = lines.findIndex(
    (line, index) => index > start && !/^\s*(?:\/\/|\*|#(?!include)|--|\w.*"""|""")/.test(line),
  );
  const said = words
    .slice(start, end === -1 ? start + 1 : end)
    .filter(Boolean)
    .join(" ");
  return said === "" ? [] : [`It begins: ${said.slice(0, SHOWN_TEXT)}`];
}

/** What the lines of a source define and how much they import. */
export function definitions(lines: readonly string[]): string[] {
  const names = [...new Set(lines.flatMap((line) => DEFINITION.exec(line)?.[1] ?? []))];
  const imports = lines.filter((line) => IMPORT.test(line)).length;
  return [
    ...(names.length === 0 ? [] : [`It defines ${listed(names)}.`]),
    ...(imports === 0 ? [] : [`It has ${count(imports, "import")}.`]),
  ];
}

function headings(lines: readonly string[]): string[] {
  const names = lines.flatMap((line) => /^##?\s+(.+)$/.exec(line)?.[1] ?? []);
  const prose = lines.find((line) => /^[A-Za-z"*`(]/.test(line) && line.length > 20);
  return [
    ...(prose === undefined ? [] : [`It says: ${prose.slice(0, SHOWN_TEXT)}`]),
    ...(names.length === 0 ? [] : [`Its headings: ${listed(names)}.`]),
  ];
}

/** The fields of a JSON text, or how long its list is. */
export function jsonNames(text: string): string[] {
  // Expected: a file that is cut off or no JSON; then its names cannot be told.
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return [`It is a list of ${count(value.length, "value")}.`];
    const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
    return names.length === 0 ? [] : [`Its fields: ${listed(names)}.`];
  } catch {
    return ["It is not valid JSON as far as I can see it."];
  }
}
