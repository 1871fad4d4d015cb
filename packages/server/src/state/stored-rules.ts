import { isAbsolute, normalize } from "node:path";
import { realPathOrSameSync } from "@flint/host/files";
import { describeGrant, isId, isRecord, type Permission, Rule, type RuleMatch } from "@flint/protocol";

/** A rule as it is stored. */
export interface StoredRule {
  readonly rule: Rule;
  /** The identity of the folder it was made in. Absent in rules of earlier versions, which belong to the path alone. */
  readonly folder?: string | undefined;
}

/** Reads a stored rule, also of an earlier version; explains what is wrong with one that is not used. */
export function readStoredRule(entry: unknown): StoredRule | string {
  if (!isRecord(entry) || !("folder" in entry)) return storedIfValid(readRule(entry));
  const { folder, ...rest } = entry;
  if (typeof folder !== "string") return "its folder identity is not a string";
  return storedIfValid(readRule(rest), folder);
}

function storedIfValid(rule: Rule | string, folder?: string): StoredRule | string {
  return typeof rule === "string" ? rule : { rule, folder };
}

function readRule(entry: unknown): Rule | string {
  const { success, data, error } = Rule.safeParse(upgraded(entry));
  if (!success) {
    const [issue] = error.issues;
    return `it is not a rule: ${issue?.path.map(String).join(".") || "it"}: ${issue?.message ?? "not known"}`;
  }
  return problemOf(data) ?? data;
}

/** A rule is used as it is written, or not at all. */
function problemOf({ scope, project, match, permission = {}, expiresAt }: Rule): string | undefined {
  if (scope !== "always" || expiresAt !== undefined) return "its scope is not always";
  if (!isPlainPath(project)) return `its folder ${JSON.stringify(project)} is not an absolute path`;
  if (realPathOrSameSync(project) !== project)
    return `its folder ${project} is now a link to ${realPathOrSameSync(project)}`;
  if (permission.unconfined === true) return "leaving the sandbox cannot be always allowed";
  if (permission.network === "all") return "connecting to any host cannot be always allowed";
  if (match.type === "edits") return "changes to all files cannot be always allowed";
  if (match.type === "any" && isEmpty(permission)) return "it allows nothing";
  const path = (permission.write ?? []).find(
    (each) => !isPlainPath(each) || realPathOrSameSync(each) !== each,
  );
  return path === undefined ? undefined : `${path} is not a path free of links`;
}

function isEmpty({ network, write = [], git }: Permission): boolean {
  return network === undefined && write.length === 0 && git !== true;
}

function isPlainPath(path: string): boolean {
  return isAbsolute(path) && normalize(path) === path && !path.includes("\0");
}

/** A rule as this version writes it. Earlier ones had `createdAt`, no words, and hosts and paths in `match`. */
function upgraded(entry: unknown): unknown {
  if (!isRecord(entry) || "grantedAt" in entry || !isRecord(entry.match)) return entry;
  const { createdAt, ...rest } = entry;
  const { host, write, ...match } = entry.match;
  const permission =
    typeof host === "string"
      ? { permission: { network: host === "*" ? "all" : { hosts: [host] } } }
      : typeof write === "string"
        ? { permission: { write: [write] } }
        : entry.tool === "git" && Object.keys(match).length === 1
          ? { permission: { git: true } }
          : {};
  const isAny = "permission" in permission;
  const now = { ...rest, match: isAny ? { type: "any" } : match, ...permission };
  const read = Rule.safeParse({ ...now, scope: "always", words: "", grantedAt: createdAt ?? 0 });
  return read.success ? { ...read.data, words: describeGrant(read.data) } : entry;
}

/** Reads a rule of the first format: one string with the project, the agent and the exact action on lines of their own. */
export function ruleOfKey(text: string): StoredRule | string {
  const [project, agent, ...rest] = text.split("\n");
  const key = rest.join("\n");
  if (project === undefined || agent === undefined || key === "") return "it is not a rule";
  const covered = coveredBy(key, project);
  // Loaded on demand: such lines are rare.
  const { createHash } = process.getBuiltinModule("node:crypto");
  // Every server that reads the line derives the same id.
  const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
  if (covered === undefined || !isId(id)) return "it is not clear what it covers";
  return readStoredRule({ id, project, agent, ...covered, createdAt: 0 });
}

function coveredBy(key: string, project: string): { tool: string; match: RuleMatch } | undefined {
  if (key.startsWith("file:")) {
    return { tool: "fileChange", match: { type: "exact", path: key.slice("file:".length) } };
  }
  // The folder precedes the command without a delimiter. Only the project itself is recognized reliably.
  const inProject = `command:${project}:`;
  if (key.startsWith(inProject)) {
    const command = key.slice(inProject.length);
    return { tool: "command", match: { type: "exact", command, cwd: project } };
  }
  const [, server = "", tool = "", given = ""] = /^tool:([^:]*):([^:]*):(.*)$/s.exec(key) ?? [];
  if (tool === "") return undefined;
  const from = server === "" ? {} : { server };
  return { tool, match: { type: "exact", ...from, arguments: argumentsIn(given) } };
}

function argumentsIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Such a rule matches a call without arguments at most.
    return null;
  }
}
