import { nearest } from "@flint/view/commands";
import type { PolicyRule } from "./file-rules.ts";
import { allows, isWrapper, type Pattern, type Subject } from "./pattern.ts";
import { resolveToolName, shellSyntaxIn, TOOL, unknownName } from "./rule-names.ts";
import { type Problem, permissionOf } from "./rule-permission.ts";

const DECISIONS = ["allow", "ask", "deny"] as const;
const PATTERN_FIELDS = ["tool", "prefix", "command", "path"];
const PERMISSION_FIELDS = ["network", "write", "git", "unconfined"];
const FIELDS = ["decision", ...PATTERN_FIELDS, "agent", "match", "not_match", ...PERMISSION_FIELDS];

/** The names that rules of a policy file can refer to. */
export interface KnownNames {
  readonly home: string;
  /** The names of all agents, if they are known. */
  readonly agents: readonly string[] | undefined;
}

/** Parses a rule of a policy file, or lists everything that is wrong with it. */
export function checkRule(
  table: Readonly<Record<string, unknown>>,
  { home, agents }: KnownNames,
): Pick<PolicyRule, "decision" | "agent" | "pattern" | "permission"> | readonly Problem[] {
  const problems = new Problems(table);
  problems.unknownFields(FIELDS);
  const decision = problems.choice("decision", DECISIONS);
  const agent = problems.string("agent");
  if (agent !== undefined && agents?.includes(agent) === false)
    problems.add("agent", unknownName("agent", agent, agents));
  const { found: faults, permission } = permissionOf(table, decision, home);
  problems.found.push(...faults);
  const hasPattern = PATTERN_FIELDS.some((field) => problems.has(field));
  if (!hasPattern && PERMISSION_FIELDS.some((field) => problems.has(field))) {
    return problems.found.length > 0 || decision === undefined
      ? problems.found
      : { decision, agent, pattern: undefined, permission };
  }
  const pattern = patternOf(problems);
  if (pattern !== undefined && decision === "allow") problems.rejectAllowingEverything(pattern);
  if (pattern !== undefined) problems.examples(pattern);
  if (problems.found.length > 0 || decision === undefined || pattern === undefined) return problems.found;
  return { decision, agent, pattern, ...(permission === undefined ? {} : { permission }) };
}

/** Returns the pattern of a rule: one of prefix, command and path, or everything that a tool does. */
function patternOf(problems: Problems): Pattern | undefined {
  const [tool, command, prefix, path] = [
    problems.string("tool"),
    problems.string("command"),
    problems.words("prefix"),
    problems.glob("path"),
  ];
  const given = ["prefix", "command", "path"].filter((field) => problems.has(field));
  if (given.length > 1)
    return problems.add(given[1], `${given.join(" and ")} cannot be in one rule; use two rules.`);
  const [only] = given;
  if (only === undefined && !problems.has("tool")) {
    return problems.add(
      undefined,
      "it matches nothing: add a prefix, a command, a path, a tool, or a network.",
    );
  }
  const meant = tool === undefined ? undefined : resolveToolName(tool);
  if (meant !== undefined) {
    return problems.add(
      "tool",
      `unknown tool ${JSON.stringify(tool)}. Did you mean ${JSON.stringify(meant)}?`,
    );
  }
  const needed = only === "path" ? TOOL.edit : only === undefined ? tool : TOOL.shell;
  if (tool !== undefined && needed !== undefined && tool !== needed) {
    return problems.add(
      "tool",
      `${only} works only with tool = ${JSON.stringify(needed)}, not ${JSON.stringify(tool)}.`,
    );
  }
  switch (needed) {
    case undefined:
      return undefined;
    case TOOL.shell:
      return { kind: "command", ...(prefix && { prefix }), ...(command !== undefined && { command }) };
    case TOOL.edit:
      return { kind: "fileChange", ...(path !== undefined && { path }) };
    default:
      return { kind: "tool", name: needed };
  }
}

/** Reads the fields of one table and collects what is wrong with them. */
class Problems {
  readonly found: Problem[] = [];
  readonly #table: Readonly<Record<string, unknown>>;

  constructor(table: Readonly<Record<string, unknown>>) {
    this.#table = table;
  }

  has(field: string): boolean {
    return Object.hasOwn(this.#table, field);
  }

  add(field: string | undefined, message: string): undefined {
    this.found.push({ field, message });
  }

  unknownFields(known: readonly string[]): void {
    for (const field of Object.keys(this.#table)) {
      if (!known.includes(field)) this.add(field, unknownName("field", field, known));
    }
  }

  choice<Word extends string>(field: string, words: readonly Word[]): Word | undefined {
    const value = this.#value(field);
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const choices = words.map((word) => JSON.stringify(word)).join(", ");
    if (value === undefined) return this.add(undefined, `${field} is missing; it must be one of ${choices}.`);
    const meant = typeof value === "string" ? nearest(value, words) : undefined;
    const hint = meant === undefined ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
    return this.add(field, `${field} must be one of ${choices}, not ${JSON.stringify(value)}.${hint}`);
  }

  string(field: string): string | undefined {
    const value = this.#value(field);
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    return this.add(field, `${field} must be a string, not ${JSON.stringify(value)}.`);
  }

  words(field: string): readonly string[] | undefined {
    const words = this.#strings(field);
    if (words === undefined) return undefined;
    if (words.length === 0) return this.add(field, `${field} needs at least one word.`);
    const wrong = words.find((word) => /\s/.test(word) || word === "");
    const syntax = shellSyntaxIn(words);
    if (wrong === undefined && syntax !== undefined)
      return this.add(
        field,
        `${field} is compared with the words of a single command, so ${JSON.stringify(syntax)} never matches. Write one rule for each command, or use command for the exact command line.`,
      );
    if (wrong === undefined) return words;
    const right = JSON.stringify(words.flatMap((word) => word.split(/\s+/)).filter((word) => word !== ""));
    return this.add(
      field,
      `${field} must be a list of single words: ${right}, not ${JSON.stringify(words)}.`,
    );
  }

  glob(field: string): string | undefined {
    const pattern = this.string(field);
    if (pattern === undefined) return undefined;
    const names = pattern.split("/");
    if (
      pattern.startsWith("/") ||
      pattern.includes("\\") ||
      names.some((name) => ["", ".", ".."].includes(name))
    )
      return this.add(
        field,
        `${field} must be relative to the workspace, such as "src/**", and inside it, not ${JSON.stringify(pattern)}.`,
      );
    if (!names.some((name) => name !== "**" && name.includes("**"))) return pattern;
    const right = names.map((name) => (name === "**" ? name : name.replace("**", "**/*"))).join("/");
    return this.add(
      field,
      `** must be a whole path segment: ${JSON.stringify(right)}, not ${JSON.stringify(pattern)}.`,
    );
  }

  /** Rejects a prefix that looks narrow but would allow any command. */
  rejectAllowingEverything(pattern: Pattern): void {
    const program = pattern.kind === "command" ? pattern.prefix?.[0] : undefined;
    if (program === undefined || !isWrapper(program)) return;
    this.add(
      "prefix",
      `${program} runs any command it is given, so this would allow everything. Allow the exact command, or use tool = "shell" to allow everything.`,
    );
  }

  /** Checks the examples of the author; one that contradicts the rule is a mistake in either. */
  examples(pattern: Pattern): void {
    for (const [field, requested] of [["match", true] as const, ["not_match", false] as const]) {
      for (const example of this.#strings(field) ?? []) {
        if (allows(pattern, exampleOf(pattern, example)) === requested) continue;
        const verb = requested ? "does not cover" : "covers";
        this.add(
          field,
          `the rule ${verb} ${JSON.stringify(example)}, which ${field} says it ${requested ? "does" : "does not"}.`,
        );
      }
    }
  }

  #strings(field: string): readonly string[] | undefined {
    const value = this.#value(field);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((entry): entry is string => typeof entry === "string"))
      return value;
    return this.add(field, `${field} must be a list of strings, not ${JSON.stringify(value)}.`);
  }

  #value(field: string): unknown {
    return this.has(field) ? this.#table[field] : undefined;
  }
}

function exampleOf({ kind }: Pattern, text: string): Subject {
  switch (kind) {
    case "command":
      return { kind, command: text };
    case "fileChange":
      return { kind, path: text, realPath: text };
    case "tool":
      return { kind, name: text };
  }
}
