import { nearest } from "../config/nearest.ts";
import type { PolicyRule } from "./file-rules.ts";
import { isAllowedBy, type Pattern, runsOthers, type Subject } from "./pattern.ts";

/** What is wrong with a field of a rule. */
export interface Problem {
  readonly field: string | undefined;
  readonly message: string;
}

const DECISIONS = ["allow", "ask", "deny"] as const;
const FIELDS = ["decision", "tool", "prefix", "command", "path", "agent", "match", "not_match"];

/** A table of a policy file as a rule, or everything that is wrong with it. */
export function checkRule(
  table: Readonly<Record<string, unknown>>,
): Pick<PolicyRule, "decision" | "agent" | "pattern"> | readonly Problem[] {
  const problems = new Problems(table);
  problems.unknownFields(FIELDS);
  const decision = problems.choice("decision", DECISIONS);
  const agent = problems.text("agent");
  const pattern = patternOf(problems);
  if (pattern !== undefined && decision === "allow") problems.refuseAllowingAnything(pattern);
  if (pattern !== undefined) problems.examples(pattern);
  if (problems.found.length > 0 || decision === undefined || pattern === undefined) return problems.found;
  return { decision, agent, pattern };
}

/** What the rule speaks of: one of prefix, command and path, or all of a tool. */
function patternOf(problems: Problems): Pattern | undefined {
  const [tool, command, prefix, path] = [
    problems.text("tool"),
    problems.text("command"),
    problems.words("prefix"),
    problems.glob("path"),
  ];
  const given = ["prefix", "command", "path"].filter((field) => problems.has(field));
  if (given.length > 1)
    return problems.add(given[1], `${given.join(" and ")} cannot stand in one rule; make two.`);
  const [only] = given;
  if (only === undefined && !problems.has("tool")) {
    return problems.add(undefined, "it matches nothing: add a prefix, a command, a path or a tool.");
  }
  const needed = only === "path" ? "fileChange" : only === undefined ? tool : "command";
  if (tool !== undefined && needed !== undefined && tool !== needed) {
    return problems.add(
      "tool",
      `${only} goes with tool = ${JSON.stringify(needed)}, not ${JSON.stringify(tool)}.`,
    );
  }
  switch (needed) {
    case undefined:
      return undefined;
    case "command":
      return { kind: "command", ...(prefix && { prefix }), ...(command !== undefined && { command }) };
    case "fileChange":
      return { kind: "fileChange", ...(path !== undefined && { path }) };
    default:
      return { kind: "tool", name: needed };
  }
}

/** Looks at the fields of one table and notes what is wrong. */
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
      if (!known.includes(field)) this.add(field, unknownWord("field", field, known));
    }
  }

  choice<Word extends string>(field: string, words: readonly Word[]): Word | undefined {
    const value = this.#value(field);
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const choices = words.map((word) => JSON.stringify(word)).join(", ");
    if (value === undefined) return this.add(undefined, `${field} is missing; it is one of ${choices}.`);
    const meant = typeof value === "string" ? nearest(value, words) : undefined;
    const hint = meant === undefined ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
    return this.add(field, `${field} is one of ${choices}; not ${JSON.stringify(value)}.${hint}`);
  }

  text(field: string): string | undefined {
    const value = this.#value(field);
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    return this.add(field, `${field} takes a text; not ${JSON.stringify(value)}.`);
  }

  words(field: string): readonly string[] | undefined {
    const words = this.#texts(field);
    if (words === undefined) return undefined;
    if (words.length === 0) return this.add(field, `${field} needs at least one word.`);
    const wrong = words.find((word) => /\s/.test(word) || word === "");
    if (wrong === undefined) return words;
    const right = JSON.stringify(words.flatMap((word) => word.split(/\s+/)).filter((word) => word !== ""));
    return this.add(
      field,
      `${field} takes one word after the other: ${right}, not ${JSON.stringify(words)}.`,
    );
  }

  glob(field: string): string | undefined {
    const pattern = this.text(field);
    if (pattern === undefined) return undefined;
    const names = pattern.split("/");
    if (
      pattern.startsWith("/") ||
      pattern.includes("\\") ||
      names.some((name) => ["", ".", ".."].includes(name))
    )
      return this.add(
        field,
        `${field} is relative to the workspace, such as "src/**", and cannot leave it; not ${JSON.stringify(pattern)}.`,
      );
    if (!names.some((name) => name !== "**" && name.includes("**"))) return pattern;
    const right = names.map((name) => (name === "**" ? name : name.replace("**", "**/*"))).join("/");
    return this.add(
      field,
      `** stands alone between slashes: ${JSON.stringify(right)}, not ${JSON.stringify(pattern)}.`,
    );
  }

  /** A rule that looks narrow must not be wide. */
  refuseAllowingAnything(pattern: Pattern): void {
    const program = pattern.kind === "command" ? pattern.prefix?.[0] : undefined;
    if (program === undefined || !runsOthers(program)) return;
    this.add(
      "prefix",
      `${program} runs any command it is given, so this would allow everything. Allow the exact command, or write tool = "command" if everything is meant.`,
    );
  }

  /** Examples say what the author believes; what does not agree with the rule is a mistake in one of them. */
  examples(pattern: Pattern): void {
    for (const [field, wanted] of [["match", true] as const, ["not_match", false] as const]) {
      for (const example of this.#texts(field) ?? []) {
        if (isAllowedBy(pattern, exampleOf(pattern, example)) === wanted) continue;
        const verb = wanted ? "does not cover" : "covers";
        this.add(
          field,
          `the rule ${verb} ${JSON.stringify(example)}, which ${field} says it ${wanted ? "does" : "does not"}.`,
        );
      }
    }
  }

  #texts(field: string): readonly string[] | undefined {
    const value = this.#value(field);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((entry): entry is string => typeof entry === "string"))
      return value;
    return this.add(field, `${field} takes a list of texts; not ${JSON.stringify(value)}.`);
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

/** Says that a name is not known, and which one may be meant. */
export function unknownWord(what: string, given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  const hint =
    meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean ${JSON.stringify(meant)}?`;
  return `unknown ${what} ${JSON.stringify(given)}. ${hint}`;
}
