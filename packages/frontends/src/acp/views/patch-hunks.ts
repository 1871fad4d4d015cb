/** A place of a file before and after a change. */
export interface PatchHunk {
  /** The line of the new file where it begins, counted from one. */
  readonly line: number;
  readonly oldText: string;
  readonly newText: string;
}

const HUNK_HEAD = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const NO_NEWLINE = "\\ No newline at end of file";

/** The places that a unified diff changes; none if the text is no diff. */
export function hunksOf(diff: string): readonly PatchHunk[] {
  const hunks: OpenHunk[] = [];
  for (const line of diff.split("\n")) {
    const head = HUNK_HEAD.exec(line);
    if (head !== null) hunks.push(new OpenHunk(Number(head[1])));
    else hunks.at(-1)?.add(line);
  }
  return hunks.map((hunk) => hunk.closed());
}

/** A hunk while its lines are read. */
class OpenHunk {
  readonly #line: number;
  readonly #old: string[] = [];
  readonly #new: string[] = [];
  /** Where the last line went: a note about its newline belongs to it. */
  #last: readonly string[][] = [];

  constructor(line: number) {
    this.#line = line;
  }

  add(line: string): void {
    if (line === NO_NEWLINE) {
      for (const side of this.#last) side.push((side.pop() ?? "").slice(0, -1));
      return;
    }
    const sides = this.#sidesOf(line.charAt(0));
    if (sides === undefined) return;
    for (const side of sides) side.push(`${line.slice(1)}\n`);
    this.#last = sides;
  }

  closed(): PatchHunk {
    return { line: Math.max(1, this.#line), oldText: this.#old.join(""), newText: this.#new.join("") };
  }

  #sidesOf(sign: string): readonly string[][] | undefined {
    if (sign === "-") return [this.#old];
    if (sign === "+") return [this.#new];
    return sign === " " ? [this.#old, this.#new] : undefined;
  }
}
