import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { ProjectRules, Rules } from "@flint/core/ports";
import { folderIdentity } from "@flint/host/folder-identity";
import { isRecord, type Rule } from "@flint/protocol";
import { readStoredRule, ruleOfKey, type StoredRule } from "./stored-rules.ts";

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
  #read: ReadRules = NOTHING;
  #snapshot: Snapshot | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  list(): readonly Rule[] {
    return this.#current().rules.map(({ rule }) => rule);
  }

  forProject(project: string): ProjectRules {
    const folder = folderIdentity(project);
    const mine = this.#current().rules.filter(({ rule }) => rule.project === project);
    const applies = (stored: StoredRule) => stored.folder === undefined || stored.folder === folder;
    return {
      applying: mine.filter(applies).map(({ rule }) => rule),
      replaced: mine.filter((stored) => !applies(stored)).map(({ rule }) => rule),
    };
  }

  problems(): readonly string[] {
    const { rules, problems } = this.#current();
    const projects = new Set(rules.map(({ rule }) => rule.project));
    const replaced = [...projects].flatMap((project) => this.forProject(project).replaced);
    return [
      ...problems.map((problem) => `${this.#path}, ${problem}; it is ignored.`),
      ...replaced.map(
        ({ id, project }) =>
          `Rule ${id} does not apply: its folder ${project} was removed or replaced. To remove it: flint rules rm ${id}`,
      ),
    ];
  }

  add(rule: Rule): void {
    const { applying, replaced } = this.forProject(rule.project);
    if (applying.some((known) => coversSame(known, rule))) return;
    for (const { id } of replaced.filter((known) => coversSame(known, rule))) this.#append(lineRemoving(id));
    this.#append(lineAdding({ rule, folder: folderIdentity(rule.project) }));
  }

  remove(id: string): boolean {
    if (!this.list().some((rule) => rule.id === id)) return false;
    this.#append(lineRemoving(id));
    return true;
  }

  /** Returns the current rules of the file. It is read again only after a change. */
  #current(): ReadRules {
    const snapshot = snapshotOf(this.#path);
    if (isSame(snapshot, this.#snapshot)) return this.#read;
    this.#read = snapshot === undefined ? NOTHING : rulesOf(readText(this.#path));
    this.#snapshot = snapshot;
    return this.#read;
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

/** Reports whether two rules allow the same; their names and ages do not matter. */
function coversSame(left: Rule, right: Rule): boolean {
  const covered = ({ project, agent, tool, match, permission }: Rule) =>
    JSON.stringify([project, agent ?? null, tool, match, permission ?? null]);
  return covered(left) === covered(right);
}

/** More than anyone answers; a larger file is not one of ours. */
const MAX_BYTES = 16_000_000;

const NOTHING: ReadRules = { rules: [], problems: [] };

function snapshotOf(path: string): Snapshot | undefined {
  try {
    const found = lstatSync(path);
    // Reading a pipe would block forever, and a link may lead to a file that others write.
    if (!found.isFile() || found.size > MAX_BYTES) return undefined;
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
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    // An unreadable file allows nothing.
    return "";
  }
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  } finally {
    closeSync(file);
  }
}

/** The line that adds a rule. */
export function lineAdding({ rule, folder }: StoredRule): string {
  return JSON.stringify(folder === undefined ? rule : { ...rule, folder });
}

/** The line that removes a rule. */
export function lineRemoving(id: string): string {
  return JSON.stringify({ removed: id });
}

/** The result of reading the lines of a file: rules, oldest first, and the problems with the other lines. */
export interface ReadRules {
  readonly rules: readonly StoredRule[];
  readonly problems: readonly string[];
}

/** Reads the lines of a file. A line that is not a valid rule allows nothing. */
export function rulesOf(text: string): ReadRules {
  const rules = new Map<string, StoredRule>();
  const problems: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const entry = parsed(line);
    if (line === "" || entry === undefined) {
      if (line !== "") problems.push(`line ${index + 1}: it is not complete`);
    } else if (isRecord(entry) && "removed" in entry) {
      if (typeof entry.removed === "string") rules.delete(entry.removed);
    } else {
      const stored = typeof entry === "string" ? ruleOfKey(entry) : readStoredRule(entry);
      if (typeof stored === "string") problems.push(`line ${index + 1}: ${stored}`);
      else if (!rules.has(stored.rule.id)) rules.set(stored.rule.id, stored);
    }
  }
  return { rules: [...rules.values()], problems };
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
