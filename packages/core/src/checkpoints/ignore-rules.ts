import { matchesList, matchesName, type NamePattern, namePattern } from "./glob.ts";

const ANY_FOLDERS = "**";

/** The file comes from the workspace: somebody may have made it to be slow. */
const LONGEST_RULE = 512;
const MOST_RULES = 2_000;

/** One line of a `.gitignore`. */
interface Rule {
  readonly keeps: boolean;
  readonly foldersOnly: boolean;
  /** Names from the folder of the file on, if the rule is bound to a place; otherwise it is for a name anywhere. */
  readonly place: readonly (NamePattern | typeof ANY_FOLDERS)[] | undefined;
  readonly name: NamePattern;
}

/** What a folder's `.gitignore` files say, its own and those above it. Never changes. */
export class IgnoreRules {
  /** Says that nothing is ignored. */
  static readonly none = new IgnoreRules(undefined, "", "", []);
  readonly #above: IgnoreRules | undefined;
  readonly #folder: string;
  readonly #text: string;
  readonly #rules: readonly Rule[];

  private constructor(above: IgnoreRules | undefined, folder: string, text: string, rules: readonly Rule[]) {
    this.#above = above;
    this.#folder = folder;
    this.#text = text;
    this.#rules = rules;
  }

  /** These rules and those of one more file in a folder below. */
  with(folder: string, text: string): IgnoreRules {
    const lines = text.split("\n", MOST_RULES);
    const rules = lines.flatMap((line) => readRule(line.replace(/\r$/, "")) ?? []);
    return new IgnoreRules(this, folder, text, rules.reverse());
  }

  /** Whether these rules are what `with` would give for this text. */
  isMade(above: IgnoreRules, text: string): boolean {
    return this.#above === above && this.#text === text;
  }

  /** Whether a path is ignored. The folders above it are not looked at: what is in an ignored one is never asked for. */
  ignores(path: string, isFolder: boolean): boolean {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const rule = this.#rules.find((one) => this.#fits(one, path, name, isFolder));
    if (rule !== undefined) return !rule.keeps;
    return this.#above === undefined ? false : this.#above.ignores(path, isFolder);
  }

  #fits({ foldersOnly, place, name: pattern }: Rule, path: string, name: string, isFolder: boolean): boolean {
    if (foldersOnly && !isFolder) return false;
    if (place === undefined) return matchesName(pattern, name);
    const names = path.slice(this.#folder.length + 1).split("/");
    return matchesList(
      place,
      names,
      (part) => part === ANY_FOLDERS,
      (part, one) => part !== ANY_FOLDERS && matchesName(part, one),
    );
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
  const parts = text.replace(/^\//, "").split("/");
  // What ends in `/**` is everything below, not the folder itself.
  if (parts.at(-1) === ANY_FOLDERS) parts.push("*");
  const place = parts.map((part) => (part === ANY_FOLDERS ? ANY_FOLDERS : namePattern(part)));
  return { keeps, foldersOnly, place: isPlaced ? place : undefined, name: namePattern(text) };
}
