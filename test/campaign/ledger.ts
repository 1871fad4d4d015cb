import { appendFileSync, readFileSync } from "node:fs";
import type { Lease } from "@flint/tasks";

/** The event of a run: it began, its end was accepted, or a write of it was refused. */
export type LedgerKind = "start" | "end" | "refused";

/** One line of a ledger: what the run of a task under a fence did. */
export interface LedgerLine {
  readonly kind: LedgerKind;
  readonly task: string;
  readonly fence: number;
}

/** A file outside of Redis into which all workers write what their runs did, as the world would remember it. */
export class Ledger {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Notes what a run did. A line is written at once or not at all. */
  add(kind: LedgerKind, { task, fence }: Pick<Lease, "task" | "fence">): void {
    appendFileSync(this.#path, `${kind} ${task} ${fence}\n`);
  }

  read(): LedgerLine[] {
    return readFileSync(this.#path, "utf8").split("\n").flatMap(lineOf);
  }
}

function lineOf(text: string): LedgerLine[] {
  const [kind, task = "", fence] = text.split(" ");
  if (kind !== "start" && kind !== "end" && kind !== "refused") return [];
  return [{ kind, task, fence: Number(fence) }];
}
