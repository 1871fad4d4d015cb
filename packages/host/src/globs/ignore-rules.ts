import { NamePattern, PathPattern } from "./glob.ts";

/** Limits, because the file comes from the workspace and may be hostile. */
const MAX_RULE_LENGTH = 512;
const MAX_RULES = 2_000;

/** One line of a `.gitignore`. */
interface Rule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** Matches the path relative to the folder of the file, or a name anywhere below it. */
  readonly pattern: PathPattern | NamePattern;
}

/** The rules of a folder's `.gitignore` files, its own and those of its parents. Immutable. */
export class IgnoreRules {
  /** Ignores nothing. */
  static readonly none = new IgnoreRules(undefined, "", "", []);
  readonly #above: IgnoreRules | undefined;
  readonly #prefix: number;
  readonly #text: string;
  readonly #rules: readonly Rule[];

  private constructor(above: IgnoreRules | undefined, folder: string, text: string, rules: readonly Rule[]) {
    this.#above = above;
    this.#prefix = folder === "" || folder.endsWith("/") ? folder.length : folder.length + 1;
    this.#text = text;
    this.#rules = rules;
  }

  /** These rules and those of one more file, in a folder below. The folder is the prefix of its paths and may be empty. */
  with(folder: string, text: string): IgnoreRules {
    const lines = text.replace(/^\uFEFF/, "").split("\n", MAX_RULES);
    const rules = lines.flatMap((line) => parseRule(line.replace(/\r$/, "")) ?? []);
    return new IgnoreRules(this, folder, text, rules.reverse());
  }

  /** Reports whether these rules are what `above.with(…, text)` would return. */
  isBuiltFrom(above: IgnoreRules, text: string): boolean {
    return this.#above === above && this.#text === text;
  }

  /** Reports whether a path is ignored by its own name; callers do not descend into ignored folders. */
  ignores(path: string, isFolder: boolean): boolean {
    const rule = this.#rules.length === 0 ? undefined : this.#ruleFor(path, isFolder);
    if (rule !== undefined) return !rule.negated;
    return this.#above === undefined ? false : this.#above.ignores(path, isFolder);
  }

  /** The last line that matches decides; the rules are in reverse order. */
  #ruleFor(path: string, isFolder: boolean): Rule | undefined {
    const name = path.slice(path.lastIndexOf("/") + 1);
    let names: readonly string[] | undefined;
    return this.#rules.find(({ foldersOnly, pattern }) => {
      if (foldersOnly && !isFolder) return false;
      if (pattern instanceof NamePattern) return pattern.matches(name);
      names ??= path.slice(this.#prefix).split("/");
      return pattern.matches(names);
    });
  }
}

function parseRule(line: string): Rule | undefined {
  if (line.length > MAX_RULE_LENGTH) return undefined;
  let text = line.trimEnd();
  // An escaped trailing space is part of the name.
  if (text.endsWith("\\") && text.length < line.length) text += " ";
  if (text === "" || text.startsWith("#")) return undefined;
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith("/");
  if (foldersOnly) text = text.slice(0, -1);
  if (text === "") return undefined;
  const isAnchored = text.includes("/");
  const pattern = isAnchored ? PathPattern.parse(text.replace(/^\//, "")) : NamePattern.parse(text);
  return { negated, foldersOnly, pattern };
}
