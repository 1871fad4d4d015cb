import { FlintError, type RequestRow } from "@flint/protocol";

/** A problem that a schema found, as zod reports it. */
export interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** For a union: what each of its branches found wrong. */
  readonly errors?: readonly (readonly Issue[])[] | undefined;
  /** For a discriminated union: its discriminator. */
  readonly discriminator?: string | undefined;
}

/** One wrong field, described for users. */
export interface Problem {
  readonly field: string;
  readonly text: string;
}

/**
 * Returns the problems, field by field. Of a union only the closest branch is reported, because the others
 * describe something that the client did not mean.
 */
export function problemsOf(issues: readonly Issue[], parent: readonly PropertyKey[] = []): Problem[] {
  return issues.flatMap((issue) => {
    const path = [...parent, ...issue.path];
    const closest = closestBranch(issue.errors ?? []);
    if (closest !== undefined) return problemsOf(closest, path);
    const field = path.map(String).join(".");
    return [{ field, text: textOf(issue) }];
  });
}

function textOf({ code, discriminator, message }: Issue): string {
  return code === "invalid_union" && discriminator !== undefined ? "is not one of the known kinds" : message;
}

/** The branch that failed deepest inside, and of those the one with the fewest complaints. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.toSorted((left, right) => depthOf(right) - depthOf(left) || left.length - right.length)[0];
}

function depthOf(issues: readonly Issue[]): number {
  return Math.max(
    0,
    ...issues.map((issue) => issue.path.length + Math.max(0, ...(issue.errors ?? []).map(depthOf))),
  );
}

/** Checks the params of a request. Throws a FlintError that names the wrong fields. */
export function parseParams(row: RequestRow, method: string, params: unknown): never {
  const parsed = row.params.safeParse(params ?? {});
  // The result fits the row, and the row belongs to the handler that gets it.
  if (parsed.success) return parsed.data as never;
  const problems = problemsOf(parsed.error.issues).slice(0, 5);
  const texts = problems.map(({ field, text }) => (field === "" ? text : `${field}: ${text}`));
  throw new FlintError("invalidParams", `Wrong params for ${method}: ${texts.join("; ")}`, {
    field: problems[0]?.field,
  });
}
