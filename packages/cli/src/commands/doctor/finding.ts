/** The result of a check. `absent`: something optional is missing. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "absent" | "problem";
  readonly detail: string;
  /** Advice for fixing it. */
  readonly fix?: string;
}

/** Checks one thing. Never rejects. */
export type Check = (cwd: string) => Promise<readonly Finding[]>;
