import type { Damage } from "@flint/core/ports";
import type { StoredEvent } from "@flint/protocol";

interface Pending {
  readonly seq: number;
  /** Absent for a record of a later version: it takes its number and is left out. */
  readonly event: StoredEvent | undefined;
  /** Unreadable lines right before it. */
  readonly unreadable: number;
}

/** So many rising numbers in a row are believed even if each of them leaves a gap. */
const MOST_PENDING = 16;

/**
 * Puts the records of a log in their rising order and counts what is damaged. A number that jumps ahead is believed
 * only when the next record goes on from there, so that a flipped digit does not hide everything after it.
 */
export class Sequence {
  #last: number;
  #records = 0;
  #missing = 0;
  /** Unreadable lines since the last record that is pending or believed. */
  #unreadable = 0;
  /** Rising, each after a gap; dropped if a record shows that they jumped ahead. */
  #pending: Pending[] = [];

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
    this.#unreadable += 1;
  }

  /**
   * A readable record, without its event if a later version of Flint wrote it. It, and those that were held back, go
   * to `believed` when their place is certain.
   */
  add(seq: number, event: StoredEvent | undefined, believed: StoredEvent[]): void {
    if (seq <= this.#last) {
      this.damaged();
      return;
    }
    if (seq === this.#last + 1 && this.#unreadable === 0 && this.#pending.length === 0) {
      this.#last = seq;
      if (event !== undefined) believed.push(event);
      return;
    }
    this.#dropFrom(seq);
    const before = this.#pending.at(-1)?.seq ?? this.#last;
    const isExplained = seq - before - 1 <= this.#unreadable;
    this.#pending.push({ seq, event, unreadable: this.#unreadable });
    this.#unreadable = 0;
    if (isExplained || this.#pending.length === MOST_PENDING) this.#believe(believed);
  }

  /** No more lines. Returns how many unreadable ones came after the last record. */
  end(believed: StoredEvent[]): number {
    this.#believe(believed);
    const trailing = this.#unreadable;
    this.#records += trailing;
    this.#unreadable = 0;
    return trailing;
  }

  /** Numbers that a later record does not go beyond were wrong. */
  #dropFrom(seq: number): void {
    for (
      let last = this.#pending.at(-1);
      last !== undefined && last.seq >= seq;
      last = this.#pending.at(-1)
    ) {
      this.#pending.pop();
      this.#unreadable += last.unreadable + 1;
    }
  }

  #believe(believed: StoredEvent[]): void {
    for (const { seq, event, unreadable } of this.#pending) {
      this.#records += unreadable;
      this.#missing += Math.max(0, seq - this.#last - 1 - unreadable);
      this.#last = seq;
      if (event !== undefined) believed.push(event);
    }
    this.#pending = [];
  }
}
