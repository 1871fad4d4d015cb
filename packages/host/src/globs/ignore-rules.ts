import { NamePattern } from "./name-pattern.ts";
import { PathPattern } from "./path-pattern.ts";

/** The file comes from the workspace: somebody may have made it to be slow. */
const LONGEST_RULE = 512;
const MOST_RULES = 2_000;

/** One line of a `.gitignore`. */
interface Rule {
  readonly keeps: boolean;
  readonly foldersOnly: boolean;
  /** A pattern for the path from the folder of the file on, or one for a name anywhere below it. */
  readonly pattern: PathPattern | NamePattern;
}

/** What a folder's `.gitignore` files say, its own and those above it. Never changes. */
export class IgnoreRules {
  /** Says that nothing is ignored. */
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

  /** These rules and those of one more file in a folder below. The folder is named as paths are; it may be empty. */
  with(folder: string, text: string): IgnoreRules {
    const lines = text.replace(/^\uFEFF/, "").split("\n", MOST_RULES);
    const rules = lines.flatMap((line) => readRule(line.replace(/\r$/, "")) ?? []);
    return new IgnoreRules(this, folder, text, rules.reverse());
  }

  /** Whether these rules are what `with` would give for this text. */
  isMade(above: IgnoreRules, text: string): boolean {
    return this.#above === above && this.#text === text;
  }

  /** Whether a path is ignored. The folders above it are not looked at: what is in an ignored one is never asked for. */
  ignores(path: string, isFolder: boolean): boolean {
    const rule = this.#rules.length === 0 ? undefined : this.#ruleFor(path, isFolder);
    if (rule !== undefined) return !rule.keeps;
    return this.#above === undefined ? false : this.#above.ignores(path, isFolder);
  }

  /** The last line that speaks of a path decides; it is the first here. */
  #ruleFor(path: string, isFolder: boolean): Rule | undefined {
    const name = path.slice(path.lastIndexOf("/") + 1);
    let names: readonly string[] | undefined;
    return this.#rules.find(({ foldersOnly, pattern }) => {
      if (foldersOnly && !isFolder) return false;
      if (pattern instanceof NamePattern) return pattern.fits(name);
      names ??= path.slice(this.#prefix).split("/");
      return pattern.fits(names);
    });
  }
}

function readRule(line: string): Rule | undefined {
  if (line.length > LONGEST_RULE) return undefined;
  let text = line.trimEnd();
  // A space after a backslash is meant.
  if (text.endsWith("\\") && text.length < line.length) text += " ";
  if (text === "" || text.startsWith("#")) return undefined;
  const keeps = text.startsWith("!");
  if (keeps) text = text.slice(1);
  const foldersOnly = text.endsWith("/");
  if (foldersOnly) text = text.slice(0, -1);
  if (text === "") return undefined;
  const isPlaced = text.includes("/");
  const pattern = isPlaced ? PathPattern.of(text.replace(/^\//, "")) : NamePattern.of(text);
  return { keeps, foldersOnly, pattern };
}
