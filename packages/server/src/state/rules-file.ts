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

/** The state of the file when it was read; if it differs, another server has written. */
interface Snapshot {
  readonly size: number;
  readonly modifiedAtMs: number;
  readonly inode: number;
}

/**
 * Stores what was always allowed, in a file that only its user can read. It is append-only and read again after a change,
 * so that several servers can share it. An unreadable line allows nothing.
 */
export class RulesFile implements Rules {
  readonly #path: string;
  #rules: readonly Rule[] = [];
  #snapshot: Snapshot | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  list(): readonly Rule[] {
    const snapshot = snapshotOf(this.#path);
    if (isSame(snapshot, this.#snapshot)) return this.#rules;
    this.#rules = snapshot === undefined ? [] : rulesOf(readText(this.#path));
    this.#snapshot = snapshot;
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
      // A file that was created elsewhere or copied may be readable by others.
      fchmodSync(file, 0o600);
      // The leading newline separates it from a line that a crash left incomplete.
      writeSync(file, `\n${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    this.#snapshot = undefined;
  }
}

function coversSame({ id: _id, createdAt: _at, ...left }: Rule, right: Rule): boolean {
  const { id: _otherId, createdAt: _otherAt, ...other } = right;
  return JSON.stringify(left) === JSON.stringify(other);
}

function snapshotOf(path: string): Snapshot | undefined {
  try {
    const found = statSync(path);
    // Reading a pipe would block forever.
    if (!found.isFile()) return undefined;
    const { size, mtimeMs, ino } = found;
    return { size, modifiedAtMs: mtimeMs, inode: ino };
  } catch {
    // No file, or an inaccessible one: there are no rules.
    return undefined;
  }
}

function isSame(left: Snapshot | undefined, right: Snapshot | undefined): boolean {
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
    // An unreadable file allows nothing.
    return "";
  }
}

/** The line that adds a rule. */
export function lineAdding(rule: Rule): string {
  return JSON.stringify(rule);
}

/** The line that removes a rule. */
export function lineRemoving(id: string): string {
  return JSON.stringify({ removed: id });
}

/** The rules that the lines of a file result in, oldest first. A line that is not a valid rule allows nothing. */
export function rulesOf(text: string): readonly Rule[] {
  const rules = new Map<string, Rule>();
  for (const line of text.split("\n")) {
    const entry = parsed(line);
    if (typeof entry === "string") add(rules, ruleOfKey(entry));
    else if (typeof entry === "object" && entry !== null && "removed" in entry) remove(rules, entry.removed);
    else add(rules, Rule.safeParse(entry).data);
  }
  return [...rules.values()];
}

function add(rules: Map<string, Rule>, rule: Rule | undefined): void {
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
    // An incomplete line is not a rule.
    return undefined;
  }
}

/** Reads a rule of the old format: one string with the project, the agent and the exact action on lines of their own. */
function ruleOfKey(text: string): Rule | undefined {
  const [project, agent, ...rest] = text.split("\n");
  const key = rest.join("\n");
  if (project === undefined || agent === undefined || key === "") return undefined;
  const covered = coveredBy(key, project);
  // Loaded on demand: such lines are rare.
  const { createHash } = process.getBuiltinModule("node:crypto");
  // Every server that reads the line derives the same id.
  const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return covered === undefined || !isId(id) ? undefined : { id, project, agent, ...covered, createdAt: 0 };
}

function coveredBy(key: string, project: string): { tool: string; match: RuleMatch } | undefined {
  if (key.startsWith("file:")) {
    return { tool: "fileChange", match: { type: "exact", path: key.slice("file:".length) } };
  }
  // The folder precedes the command without a delimiter. Only the project itself is recognized reliably.
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
