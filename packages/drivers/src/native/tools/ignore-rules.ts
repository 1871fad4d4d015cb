import { join } from "node:path";
import { Glob } from "./glob.ts";
import { readPlainFile } from "./plain-file.ts";

/** Folders that nobody wants to look through. */
const NEVER = new Set([".git", "node_modules"]);

const IGNORE_FILE_BYTES = 65_536;
const RULES_PER_FILE = 500;

interface Rule {
  readonly glob: Glob;
  readonly foldersOnly: boolean;
  readonly negated: boolean;
}

/** The rules for a folder, which is given from the root of the walk. */
interface RuleSet {
  readonly folder: string;
  readonly rules: readonly Rule[];
}

/** What is left out when a folder is looked through: `.git`, `node_modules`, and what the .gitignore files name. */
export class IgnoreRules {
  readonly #sets: readonly RuleSet[];

  private constructor(sets: readonly RuleSet[]) {
    this.#sets = sets;
  }

  /** No .gitignore yet. */
  static none(): IgnoreRules {
    return new IgnoreRules([]);
  }

  /** The same with the .gitignore of a folder, if it has one that can be read. `folder` is as paths are given. */
  async with(root: string, folder: string): Promise<IgnoreRules> {
    const file = join(root, folder, ".gitignore");
    // Expected: no such file. One that is a link or a device is not followed by git either.
    const content = await readPlainFile(file, IGNORE_FILE_BYTES).catch(() => undefined);
    if (content === undefined) return this;
    const rules = content.toString("utf8").split(/\r?\n/).slice(0, RULES_PER_FILE).flatMap(ruleOf);
    return rules.length === 0 ? this : new IgnoreRules([...this.#sets, { folder, rules }]);
  }

  /** Whether a path is left out. The last rule that fits decides. */
  ignores(path: string, isFolder: boolean): boolean {
    if (NEVER.has(path.slice(path.lastIndexOf("/") + 1))) return true;
    let ignored = false;
    for (const { folder, rules } of this.#sets) {
      const inside = folder === "" ? path : path.slice(folder.length + 1);
      for (const { glob, foldersOnly, negated } of rules) {
        if ((!foldersOnly || isFolder) && ignored === negated && glob.matches(inside)) ignored = !negated;
      }
    }
    return ignored;
  }
}

function ruleOf(line: string): Rule[] {
  const text = line.trim();
  if (text === "" || text.startsWith("#")) return [];
  const negated = text.startsWith("!");
  const foldersOnly = text.endsWith("/");
  const pattern = text.slice(negated ? 1 : 0).replace(/\/$/, "");
  // Expected: a pattern that is longer than any sane one. It then ignores nothing.
  try {
    return pattern === "" ? [] : [{ glob: Glob.of(pattern), foldersOnly, negated }];
  } catch {
    return [];
  }
}
