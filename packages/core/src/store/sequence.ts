import type { StoredEvent } from "@flint/protocol";
import type { Damage } from "../ports/store.ts";

interface Numbered {
  readonly seq: number;
  /** Absent for a record of a later version: it takes its number and is left out. */
  readonly event: StoredEvent | undefined;
}

/**
 * Puts the records of a log in their rising order and counts what is damaged. A number that jumps ahead is believed
 * only when the next record goes on from there, so that one flipped digit does not hide everything after it.
 */
export class Sequence {
  #last: number;
  #records = 0;
  #missing = 0;
  /** Unreadable lines since the last record that was believed. */
  #unreadable = 0;
  #suspect: Numbered | undefined;
  #unreadableAfterSuspect = 0;

  constructor(last: number) {
    this.#last = last;
  }

  /** The highest number that was believed. */
  get last(): number {
    return this.#last;
  }

  get damage(): Damage {
    return { records: this.#records, missing: this.#missing };
  }

  /** A line that cannot be read. */
  damaged(): void {
    if (this.#suspect === undefined) this.#unreadable += 1;
    else this.#unreadableAfterSuspect += 1;
  }

  /**
   * A readable record, without its event if a later version of Flint wrote it. It, and one that was held back, go to
   * `believed` when their place is certain.
   */
  add(seq: number, event: StoredEvent | undefined, believed: StoredEvent[]): void {
    const suspect = this.#suspect;
    if (seq <= this.#last || seq === suspect?.seq) {
      this.damaged();
      return;
    }
    if (suspect !== undefined && seq > suspect.seq) this.#believeSuspect(suspect, believed);
    else if (suspect !== undefined) this.#dropSuspect();
    this.#place({ seq, event }, believed);
  }

  /** No more lines. Returns how many unreadable ones came after the last record. */
  end(believed: StoredEvent[]): number {
    if (this.#suspect !== undefined) this.#believeSuspect(this.#suspect, believed);
    const trailing = this.#unreadable;
    this.#records += trailing;
    this.#unreadable = 0;
    return trailing;
  }

  #place(record: Numbered, believed: StoredEvent[]): void {
    const skipped = record.seq - this.#last - 1;
    if (skipped <= this.#unreadable) this.#believe(record, believed);
    else this.#suspect = record;
  }

  #believe({ seq, event }: Numbered, believed: StoredEvent[]): void {
    const skipped = seq - this.#last - 1;
    this.#records += this.#unreadable;
    this.#missing += Math.max(0, skipped - this.#unreadable);
    this.#unreadable = 0;
    this.#last = seq;
    if (event !== undefined) believed.push(event);
  }

  #believeSuspect(suspect: Numbered, believed: StoredEvent[]): void {
    this.#believe(suspect, believed);
    this.#unreadable = this.#unreadableAfterSuspect;
    this.#forgetSuspect();
  }

  #dropSuspect(): void {
    this.#unreadable += 1 + this.#unreadableAfterSuspect;
    this.#forgetSuspect();
  }

  #forgetSuspect(): void {
    this.#suspect = undefined;
    this.#unreadableAfterSuspect = 0;
  }
}
