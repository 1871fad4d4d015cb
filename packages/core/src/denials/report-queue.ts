/** The reports that replace one report after it was examined. Must not reject. */
export type Prepared<Report> = Promise<readonly Report[]>;

/** Passes reports on in their order. One that has to be looked at first holds back those that come after it. */
export class ReportQueue<Report> {
  readonly #prepare: (report: Report) => Prepared<Report> | undefined;
  readonly #pass: (report: Report) => void;
  readonly #waiting: Report[] = [];
  #preparing: Promise<void> | undefined;

  /** `prepare` returns undefined for a report that can be passed on at once, which most can. */
  constructor(prepare: (report: Report) => Prepared<Report> | undefined, pass: (report: Report) => void) {
    this.#prepare = prepare;
    this.#pass = pass;
  }

  push(report: Report): void {
    if (this.#preparing !== undefined) {
      this.#waiting.push(report);
      return;
    }
    const prepared = this.#prepare(report);
    if (prepared === undefined) this.#pass(report);
    else this.#preparing = prepared.then((reports) => this.#release(reports));
  }

  /** Resolves when everything so far was passed on; undefined if nothing is held back. */
  drained(): Promise<void> | undefined {
    return this.#preparing?.then(() => this.drained());
  }

  #release(reports: readonly Report[]): void {
    this.#preparing = undefined;
    for (const report of reports) this.#pass(report);
    for (const report of this.#waiting.splice(0)) this.push(report);
  }
}
