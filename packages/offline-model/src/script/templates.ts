import { unquoted } from "../intents/intent.ts";

/** The smallest program that prints a text, by the ending of its file. */
const PROGRAMS: Readonly<Record<string, (text: string) => string>> = {
  py: (text) => `print(${JSON.stringify(text)})\n`,
  js: (text) => `console.log(${JSON.stringify(text)});\n`,
  mjs: (text) => `console.log(${JSON.stringify(text)});\n`,
  ts: (text) => `console.log(${JSON.stringify(text)});\n`,
  rb: (text) => `puts ${JSON.stringify(text)}\n`,
  sh: (text) => `#!/bin/sh\nprintf '%s\\n' '${text.replaceAll("'", `'\\''`)}'\n`,
  go: (text) => `package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(${JSON.stringify(text)})\n}\n`,
  rs: (text) => `fn main() {\n    println!("{}", ${JSON.stringify(text)});\n}\n`,
  c: (text) =>
    `#include <stdio.h>\n\nint main(void) {\n    puts(${JSON.stringify(text)});\n    return 0;\n}\n`,
  java: (text) =>
    `class Main {\n    public static void main(String[] arguments) {\n        System.out.println(${JSON.stringify(text)});\n    }\n}\n`,
};

const PRINTS = /\b(?:that|which|to|and)?\s*(?:prints?|says?|logs?|outputs?|echoes|shows?) ([\s\S]+?)[.!]*$/i;
const HOLDS =
  /\b(?:with|containing|that (?:says|contains|holds|reads)|saying|holding)\b:?\s+(?:the (?:text|content|words?|line)s? )?([\s\S]+)$/i;
const ABOUT = /\b(?:about|for|on|describing) ([\s\S]+?)[.!?]*$/i;

/** What a new file should hold, from the words that describe it. Modest on purpose: what is unclear is left out. */
export function contentFor(path: string, wish: string): string {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const program = PROGRAMS[ending];
  const [, printed] = PRINTS.exec(wish) ?? [];
  if (program !== undefined && printed !== undefined) return program(unquoted(printed));
  const [, held] = HOLDS.exec(wish) ?? [];
  if (held !== undefined) return lineEnded(fitting(ending, unquoted(held)));
  const [, about] = ABOUT.exec(wish) ?? [];
  return emptyFile(ending, about === undefined ? titleOf(path) : unquoted(about));
}

function fitting(ending: string, text: string): string {
  return ending === "html" && !text.includes("<") ? page(text) : text;
}

/** A beginning that says what the file is about, in the comment of its language. */
function emptyFile(ending: string, title: string): string {
  const shown = `${title.charAt(0).toUpperCase()}${title.slice(1)}`;
  if (ending === "md" || ending === "markdown") return `# ${shown}\n`;
  if (ending === "html") return `${page(shown)}\n`;
  if (ending === "json") return "{}\n";
  if (["py", "rb", "sh", "toml", "yaml", "yml"].includes(ending)) return `# ${shown}\n`;
  if (["js", "mjs", "ts", "go", "rs", "c", "java"].includes(ending)) return `// ${shown}\n`;
  return `${shown}\n`;
}

function page(text: string): string {
  const shown = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<!doctype html>\n<html lang="en">\n  <meta charset="utf-8">\n  <title>${shown}</title>\n  <p>${shown}</p>\n</html>`;
}

function titleOf(path: string): string {
  const name = path.split("/").at(-1) ?? path;
  return name.replace(/\.\w+$/, "").replaceAll(/[-_]+/g, " ");
}

function lineEnded(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
