import { NamePattern } from "./name-pattern.ts";
import { fitsWithStars } from "./star-match.ts";

const ANY_FOLDERS = "**";

type Part = NamePattern | typeof ANY_FOLDERS;

/**
 * A pattern for whole paths: one for each name, with slashes between them. `**` in place of a name stands for any
 * number of folders; at the end it is everything below, not the folder itself.
 */
export class PathPattern {
  readonly #parts: readonly Part[];

  private constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** Reads a pattern; every text is one. It begins where the paths do, so it has no slash in front. */
  static of(text: string): PathPattern {
    const names = text.split("/");
    if (names.at(-1) === ANY_FOLDERS) names.push("*");
    return new PathPattern(names.map((name) => (name === ANY_FOLDERS ? name : NamePattern.of(name))));
  }

  /** Whether the names of a path fit, the outermost first. */
  fits(names: readonly string[]): boolean {
    return fitsWithStars(this.#parts, names, isAnyFolders, fitsName);
  }
}

function isAnyFolders(part: Part): boolean {
  return part === ANY_FOLDERS;
}

function fitsName(part: Part, name: string): boolean {
  return part === ANY_FOLDERS || part.fits(name);
}
