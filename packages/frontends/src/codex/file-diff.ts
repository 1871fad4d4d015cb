import type { FileUpdateChange } from "@flint/protocol";
import type { CodexFileChange } from "@flint/protocol/codex";

const NO_NEWLINE = "\\ No newline at end of file";

/** A change of a file in Codex's words: a file that comes or goes as its text, another one as hunks without a header. */
export function fileChangeOf({ path, kind, diff, movePath }: FileUpdateChange): CodexFileChange {
  const hunks = hunksOf(diff);
  switch (kind) {
    case "add":
      return { path, kind: { type: kind }, diff: wholeText(hunks, "+") };
    case "delete":
      return { path, kind: { type: kind }, diff: wholeText(hunks, "-") };
    case "modify":
      return { path, kind: { type: "update", move_path: movePath ?? null }, diff: hunks };
  }
}

/** Without the header; a diff that has no hunks is told as it is. */
function hunksOf(diff: string): string {
  if (diff.startsWith("@@")) return diff;
  const start = diff.indexOf("\n@@");
  return start === -1 ? diff : diff.slice(start + 1);
}

/** The text of a file of which all lines have this sign. */
function wholeText(hunks: string, sign: "+" | "-"): string {
  if (!hunks.startsWith("@@")) return hunks;
  const lines = hunks.split("\n");
  const text = lines.filter((line) => line.startsWith(sign)).map((line) => `${line.slice(1)}\n`);
  return lines.includes(NO_NEWLINE) ? text.join("").replace(/\n$/, "") : text.join("");
}
