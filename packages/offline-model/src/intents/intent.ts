/** What the offline model understands of a request. */
export type Intent =
  | Work
  | { readonly kind: "plan"; readonly goal: string; readonly steps: readonly PlanStep[] }
  | { readonly kind: "demo" }
  | { readonly kind: "review" }
  | { readonly kind: "ask"; readonly question: string; readonly options: readonly string[] }
  | { readonly kind: "think"; readonly about: string; readonly next: Intent }
  | { readonly kind: "count"; readonly to: number }
  | { readonly kind: "recall" }
  | { readonly kind: "summarise" }
  | { readonly kind: "fail"; readonly message: string }
  /** Say what was piped in. */
  | { readonly kind: "input"; readonly text: string }
  /** Mend what failed last. */
  | { readonly kind: "fix" }
  /** Answer with exactly this JSON. */
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "other"; readonly text: string };

/** What is done with tools, and can be a step of a plan. */
export type Work =
  | { readonly kind: "list"; readonly path?: string }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "chore"; readonly chore: Chore }
  | { readonly kind: "find"; readonly name: string }
  | { readonly kind: "search"; readonly text: string }
  | { readonly kind: "explain"; readonly path: string }
  | { readonly kind: "overview" }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | { readonly kind: "replace"; readonly path: string; readonly from: string; readonly to: string }
  | { readonly kind: "append"; readonly path: string; readonly line: string };

/** What every project has its own command for. */
export type Chore = "test" | "build" | "lint" | "typecheck";

/** In a longer request only its beginning and what is plainly given word for word is looked at. */
export const LONG_REQUEST = 4_000;

/** One step of a plan, in the user's words. */
export interface PlanStep {
  readonly title: string;
  readonly work: Work;
}

/** Reads a request; undefined if it is not about what this rule knows. */
export type Rule<Meant extends Intent = Intent> = (request: string) => Meant | undefined;

/** Without the quotes around it, if it has a pair of them. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const [, , inner] = /^(`|"|')([\s\S]*)\1$/.exec(trimmed) ?? [];
  return inner ?? trimmed;
}

/** A path as it was meant: without quotes and without the punctuation of the sentence around it. */
export function pathOf(text: string): string {
  return unquoted(text.trim().replace(/[,;:?!]+$/, "")).replace(/(?<=[^./])[.?!,;]+$/, "");
}
