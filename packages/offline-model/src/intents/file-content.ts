import { singleQuote } from "@flint/core/text";
import { unquote } from "../quoting.ts";

const logs = (text: string) => `console.log(${JSON.stringify(text)});\n`;

/** The smallest program that prints a text, by file extension. */
const PROGRAMS: Readonly<Record<string, (text: string) => string>> = {
  py: (text) => `print(${JSON.stringify(text)})\n`,
  js: logs,
  mjs: logs,
  ts: logs,
  sh: (text) => `#!/bin/sh\nprintf '%s\\n' ${singleQuote(text)}\n`,
};

const PRINTS = /\b(?:prints?|says?|logs?|outputs?|echoes) ([\s\S]+?)[.!]*$/i;
const CONTAINS =
  /\b(?:with|containing|that (?:says|contains)|saying)\b:?\s+(?:the (?:text|line)s? )?([\s\S]+)$/i;
const ABOUT = /\b(?:about|for|on) ([\s\S]+?)[.!?]*$/i;

/** The content of a new file, from the words that describe it. What is unclear is left out. */
export function fileContent(path: string, description: string): string {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const printed = PRINTS.exec(description)?.[1];
  const program = PROGRAMS[extension];
  if (program !== undefined && printed !== undefined) return program(unquote(printed));
  const text = CONTAINS.exec(description)?.[1];
  if (text !== undefined) return `${unquote(text).replace(/\n$/, "")}\n`;
  const title = unquote(ABOUT.exec(description)?.[1] ?? path.replace(/^.*\//, "").replace(/\.\w+$/, ""));
  const shown = `${title.charAt(0).toUpperCase()}${title.slice(1)}`;
  if (extension === "json") return "{}\n";
  if (["md", "py", "sh", "toml", "yaml", "yml"].includes(extension)) return `# ${shown}\n`;
  return ["js", "mjs", "ts"].includes(extension) ? `// ${shown}\n` : `${shown}\n`;
}
