import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Rules } from "@flint/core/ports";
import { isId, Rule, type RuleMatch } from "@flint/protocol";

/** What the file looked like when it was read: another look means that another server has written. */
interface Look {
  readonly size: number;
  readonly modifiedAtMs: number;
  readonly inode: number;
}

/**
 * What was allowed for always, in a file only its user can read. It is only ever appended to, so servers that share
 * it do not undo each other, and read again when it has changed. A line that is not readable allows nothing.
 */
export class RulesFile implements Rules {
  readonly #path: string;
  #rules: readonly Rule[] = [];
  #look: Look | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  list(): readonly Rule[] {
    const look = lookAt(this.#path);
    if (isSame(look, this.#look)) return this.#rules;
    this.#rules = look === undefined ? [] : rulesOf(readText(this.#path));
    this.#look = look;
    return this.#rules;
  }

  add(rule: Rule): void {
    if (!this.list().some((known) => coversSame(known, rule))) this.#append(lineAdding(rule));
  }

  remove(id: string): boolean {
    if (!this.list().some((rule) => rule.id === id)) return false;
    this.#append(lineRemoving(id));
    return true;
  }

  #append(line: string): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;
    const file = openSync(this.#path, flags, 0o600);
    try {
      // A file that somebody else made, or copied, may be open to others.
      fchmodSync(file, 0o600);
      // A line end before it keeps it apart from what a crash may have left half-written.
      writeSync(file, `\n${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    this.#look = undefined;
  }
}

function coversSame({ id: _id, createdAt: _at, ...left }: Rule, right: Rule): boolean {
  const { id: _otherId, createdAt: _otherAt, ...other } = right;
  return JSON.stringify(left) === JSON.stringify(other);
}

function lookAt(path: string): Look | undefined {
  try {
    const found = statSync(path);
    // A pipe in its place would block the reader forever.
    if (!found.isFile()) return undefined;
    const { size, mtimeMs, ino } = found;
    return { size, modifiedAtMs: mtimeMs, inode: ino };
  } catch {
    // No file, or one that may not be looked at: no rules, everything is asked about.
    return undefined;
  }
}

function isSame(left: Look | undefined, right: Look | undefined): boolean {
  return (
    left !== undefined &&
    left.size === right?.size &&
    left.modifiedAtMs === right.modifiedAtMs &&
    left.inode === right.inode
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // What cannot be read allows nothing.
    return "";
  }
}

/** The line that keeps a rule. */
export function lineAdding(rule: Rule): string {
  return JSON.stringify(rule);
}

/** The line that takes a rule back. */
export function lineRemoving(id: string): string {
  return JSON.stringify({ removed: id });
}

/** The rules that the lines of a file leave, oldest first. What is not plainly a rule allows nothing. */
export function rulesOf(text: string): readonly Rule[] {
  const rules = new Map<string, Rule>();
  for (const line of text.split("\n")) {
    const entry = parsed(line);
    if (typeof entry === "string") keep(rules, ruleOfKey(entry));
    else if (typeof entry === "object" && entry !== null && "removed" in entry) remove(rules, entry.removed);
    else keep(rules, Rule.safeParse(entry).data);
  }
  return [...rules.values()];
}

function keep(rules: Map<string, Rule>, rule: Rule | undefined): void {
  if (rule !== undefined && !rules.has(rule.id)) rules.set(rule.id, rule);
}

function remove(rules: Map<string, Rule>, id: unknown): void {
  if (typeof id === "string") rules.delete(id);
}

function parsed(line: string): unknown {
  if (line === "") return undefined;
  try {
    return JSON.parse(line);
  } catch {
    // A torn line was never a rule.
    return undefined;
  }
}

/** A rule of the time when a line was one text: the project, the agent and the exact thing, each on a line of it. */
function ruleOfKey(text: string): Rule | undefined {
  const [project, agent, ...rest] = text.split("\n");
  const key = rest.join("\n");
  if (project === undefined || agent === undefined || key === "") return undefined;
  const covered = coveredBy(key, project);
  // Loaded here, not at every start: such lines are rare.
  const { createHash } = process.getBuiltinModule("node:crypto");
  // The same line is the same rule in every server that reads it.
  const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return covered === undefined || !isId(id) ? undefined : { id, project, agent, ...covered, createdAt: 0 };
}

function coveredBy(key: string, project: string): { tool: string; match: RuleMatch } | undefined {
  if (key.startsWith("file:")) {
    return { tool: "fileChange", match: { type: "exact", path: key.slice("file:".length) } };
  }
  // The folder stood before the command without a mark at its end. Only the project itself is known for sure.
  const inProject = `command:${project}:`;
  if (key.startsWith(inProject)) {
    const command = key.slice(inProject.length);
    return { tool: "command", match: { type: "exact", command, cwd: project } };
  }
  const [, server = "", tool = "", given = ""] = /^tool:([^:]*):([^:]*):(.*)$/s.exec(key) ?? [];
  if (tool === "") return undefined;
  const from = server === "" ? {} : { server };
  return { tool, match: { type: "exact", ...from, arguments: parsed(given) ?? null } };
}
