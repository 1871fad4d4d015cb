import { isRecord } from "../wire/loose-object.ts";
import type { Grant } from "./grant.ts";
import { describePermission } from "./permission.ts";

/** Describes what a grant allows as a verb phrase: "run: npm test (in /repo)". The only place that words grants. */
export function describeGrant({
  tool,
  match,
  permission,
}: Pick<Grant, "tool" | "match" | "permission">): string {
  const more = permission === undefined ? "" : `, which may ${describePermission(permission)}`;
  switch (match.type) {
    case "any":
      return permission?.git === true
        ? describePermission(permission)
        : `${describePermission(permission ?? {})}, from any command`;
    case "edits":
      return "change files in this workspace, except hidden ones";
    case "prefix":
      return `run commands that begin with: ${match.words.join(" ")}${more}`;
    case "exact": {
      const { command, cwd = "?", path, server } = match;
      if (command !== undefined) {
        const where = permission?.unconfined === true ? "run outside of the sandbox" : "run";
        const rest = permission?.unconfined === true ? "" : more;
        return `${where}: ${command} (in ${cwd})${rest}`;
      }
      if (path !== undefined) return `change the file ${path} in any way`;
      if (tool === "fileChange") return `change ${changedFiles(match.arguments)} exactly as shown`;
      const name = server === undefined ? tool : `${server}/${tool}`;
      return `call ${name} with ${JSON.stringify(match.arguments ?? null)}`;
    }
  }
}

function changedFiles(changes: unknown): string {
  const listed: readonly unknown[] = Array.isArray(changes) ? changes : [];
  return listed.map((change) => (isRecord(change) ? String(change.path) : "?")).join(", ");
}

/** Describes a rule as it was shown, or as what it covers. */
export function describeRule(
  rule: Pick<Grant, "tool" | "match" | "permission"> & { readonly words?: string | undefined },
): string {
  return rule.words ?? describeGrant(rule);
}
