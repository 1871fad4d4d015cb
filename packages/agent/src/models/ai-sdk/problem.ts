/** What can go wrong in one step, before it is put into words. */
export type Problem =
  /** The endpoint said no. */
  | { readonly kind: "status"; readonly status: number; readonly headers: Headers; readonly body: string }
  /** The endpoint wants the request elsewhere; a key is never taken there. */
  | { readonly kind: "redirect"; readonly status: number; readonly location: string }
  /** No connection came about, or it broke before any answer. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** The stream ended before the answer did. */
  | { readonly kind: "cut" }
  /** Nothing came for too long. */
  | { readonly kind: "silent"; readonly milliseconds: number }
  /** More came than any answer needs. */
  | { readonly kind: "flood"; readonly what: string }
  /** The stream itself told of an error, or was no stream of this kind. */
  | { readonly kind: "stream"; readonly thrown: unknown }
  /** The model stopped without having said or wanted anything. */
  | { readonly kind: "empty" }
  /** The request could not even be made. */
  | { readonly kind: "request"; readonly thrown: unknown };

/** Carries a problem to where it is put into words. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.kind);
    this.problem = problem;
  }
}
