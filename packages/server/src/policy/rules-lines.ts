import { isId, Rule, type RuleMatch } from "@flint/protocol";

/** The line that keeps a rule. */
export function lineAdding(rule: Rule): string {
  return JSON.stringify(rule);
}

/** The line that takes a rule back. */
export function lineRemoving(id: string): string {
  return JSON.stringify({ removed: id });
}

/** The rules that the lines of a file leave, oldest first. What is not plainly a rule allows nothing. */
export function rulesOf(text: string): readonly Rule[] {
  const rules = new Map<string, Rule>();
  for (const line of text.split("\n")) {
    const entry = parsed(line);
    if (typeof entry === "string") keep(rules, ruleOfKey(entry));
    else if (typeof entry === "object" && entry !== null && "removed" in entry) remove(rules, entry.removed);
    else keep(rules, Rule.safeParse(entry).data);
  }
  return [...rules.values()];
}

function keep(rules: Map<string, Rule>, rule: Rule | undefined): void {
  if (rule !== undefined && !rules.has(rule.id)) rules.set(rule.id, rule);
}

function remove(rules: Map<string, Rule>, id: unknown): void {
  if (typeof id === "string") rules.delete(id);
}

function parsed(line: string): unknown {
  if (line === "") return undefined;
  try {
    return JSON.parse(line);
  } catch {
    // A torn line was never a rule.
    return undefined;
  }
}

/** A rule of the time when a line was one text: the project, the agent and the exact thing, each on a line of it. */
function ruleOfKey(text: string): Rule | undefined {
  const [project, agent, ...rest] = text.split("\n");
  const key = rest.join("\n");
  if (project === undefined || agent === undefined || key === "") return undefined;
  const covered = coveredBy(key, project);
  // Loaded here, not at every start: such lines are rare.
  const { createHash } = process.getBuiltinModule("node:crypto");
  // The same line is the same rule in every server that reads it.
  const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return covered === undefined || !isId(id) ? undefined : { id, project, agent, ...covered, createdAt: 0 };
}

function coveredBy(key: string, project: string): { tool: string; match: RuleMatch } | undefined {
  if (key.startsWith("file:")) {
    return { tool: "fileChange", match: { type: "exact", path: key.slice("file:".length) } };
  }
  // The folder stood before the command without a mark at its end. Only the project itself is known for sure.
  const inProject = `command:${project}:`;
  if (key.startsWith(inProject)) {
    const command = key.slice(inProject.length);
    return { tool: "command", match: { type: "exact", command, cwd: project } };
  }
  const [, server = "", tool = "", given = ""] = /^tool:([^:]*):([^:]*):(.*)$/s.exec(key) ?? [];
  if (tool === "") return undefined;
  const from = server === "" ? {} : { server };
  return { tool, match: { type: "exact", ...from, arguments: parsed(given) ?? null } };
}
