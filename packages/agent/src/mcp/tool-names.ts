import { createHash } from "node:crypto";

/** A tool as its server calls it. */
export interface ToolOrigin {
  readonly server: string;
  readonly tool: string;
}

const LONGEST_NAME = 64;
const MARK_LENGTH = 8;

/**
 * A name for each tool that every model takes: letters, digits, `_` and `-`, at most 64. It depends on the tools alone,
 * not on their order, and no two get the same.
 */
export function nameTools(origins: readonly ToolOrigin[]): string[] {
  const wanted = origins.map(plainName);
  const counts = new Map<string, number>();
  for (const name of wanted) counts.set(name, (counts.get(name) ?? 0) + 1);
  return origins.map((origin, at) => {
    const name = wanted[at] ?? "";
    const isAlone = counts.get(name) === 1;
    return name.length <= LONGEST_NAME && (isAlone || isExact(origin)) ? name : markedName(name, origin);
  });
}

function plainName({ server, tool }: ToolOrigin): string {
  return `mcp__${serverPart(server)}__${lettersOnly(tool)}`;
}

/** Without a double underscore, and with none at its ends: the first double one is where the tool begins. */
function serverPart(server: string): string {
  return lettersOnly(server).replace(/_+/g, "_").replace(/^_|_$/g, "") || "server";
}

function lettersOnly(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** Nothing was changed in the name, so no other exact one can have become the same. */
function isExact({ server, tool }: ToolOrigin): boolean {
  return serverPart(server) === server && lettersOnly(tool) === tool;
}

function markedName(name: string, { server, tool }: ToolOrigin): string {
  const mark = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, MARK_LENGTH);
  return `${name.slice(0, LONGEST_NAME - MARK_LENGTH - 1)}_${mark}`;
}
