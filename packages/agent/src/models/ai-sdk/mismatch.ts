import { isRecord } from "@flint/protocol";

const MAX_DEPTH = 5;

/** Which field of a response did not fit, as the SDK reports it; undefined if it reports no field. */
export function mismatchedField(thrown: unknown, depth = 0): string | undefined {
  if (!isRecord(thrown) || depth > MAX_DEPTH) return undefined;
  const { issues, cause, error } = thrown;
  if (Array.isArray(issues)) return described(issues, []);
  return mismatchedField(cause, depth + 1) ?? mismatchedField(error, depth + 1);
}

/** The first problem. Of several possible shapes, that of the one that fits best. */
function described(issues: readonly unknown[], before: readonly unknown[]): string | undefined {
  const [issue] = issues;
  if (!isRecord(issue)) return undefined;
  const path = [...before, ...(Array.isArray(issue.path) ? issue.path : [])];
  const { errors, message } = issue;
  if (Array.isArray(errors)) {
    const shapes = errors.filter((each): each is unknown[] => Array.isArray(each));
    const near = shapes.filter((shape) => !shape.some(isAboutKind));
    const [best] = (near.length > 0 ? near : shapes).sort((one, other) => one.length - other.length);
    const inner = best === undefined ? undefined : described(best, path);
    if (inner !== undefined) return inner;
  }
  if (path.length === 0) return undefined;
  return `${path.map(String).join(".")}${typeof message === "string" ? ` (${message})` : ""}`;
}

/** Whether a shape is one of another kind of message. */
function isAboutKind(issue: unknown): boolean {
  return isRecord(issue) && Array.isArray(issue.path) && issue.path.length === 1 && issue.path[0] === "type";
}
