/** A script as the line that Codex shows for it; clients split it like a shell and show the script. */
export function shellLine(script: string): string {
  return `/bin/bash -lc ${quoted(script)}`;
}

/** One word of a line that a shell reads as exactly this text, in the plainest form there is. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!text.includes("'")) return `'${text}'`;
  if (!/[$`"\\!]/.test(text)) return `"${text}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
