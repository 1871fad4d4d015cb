/** One changed region of a file. */
export interface PatchHunk {
  /** The line of the new file where it starts, counted from one. */
  readonly line: number;
  readonly oldText: string;
  readonly newText: string;
}

const HUNK_HEADER = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const NO_NEWLINE = "\\ No newline at end of file";

/** The hunks of a unified diff; none if the text is not a diff. */
export function hunksOf(diff: string): readonly PatchHunk[] {
  const hunks: HunkBuilder[] = [];
  for (const line of diff.split("\n")) {
    const header = HUNK_HEADER.exec(line);
    if (header !== null) hunks.push(new HunkBuilder(Number(header[1])));
    else hunks.at(-1)?.add(line);
  }
  return hunks.map((hunk) => hunk.build());
}

/** Collects the lines of one hunk. */
class HunkBuilder {
  readonly #line: number;
  readonly #old: string[] = [];
  readonly #new: string[] = [];
  /** The side to which the last line was added: a missing newline applies to it. */
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

  build(): PatchHunk {
    return { line: Math.max(1, this.#line), oldText: this.#old.join(""), newText: this.#new.join("") };
  }

  #sidesOf(prefix: string): readonly string[][] | undefined {
    if (prefix === "-") return [this.#old];
    if (prefix === "+") return [this.#new];
    return prefix === " " ? [this.#old, this.#new] : undefined;
  }
}
