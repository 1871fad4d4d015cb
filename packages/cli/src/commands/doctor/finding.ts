/** What was found about one thing. `absent`: Flint works without it. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "absent" | "problem";
  readonly detail: string;
  /** The line that changes it. */
  readonly wayOut?: string;
}

/** Looks at one thing. Never rejects. */
export type Check = (cwd: string) => Promise<readonly Finding[]>;

/** What an error says. */
export function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
