import { readFile } from "node:fs/promises";
import type { PolicyRules } from "@flint/core/ports";
import { errorMessage } from "@flint/protocol";
import { homeFolder } from "../config/environment.ts";
import { ConfigError, isTable } from "../config/parse.ts";
import { FileRules, type PolicyRule } from "./file-rules.ts";
import { checkRule, type KnownNames } from "./rule-check.ts";
import { unknownName } from "./rule-names.ts";
import { shadowedRules } from "./shadowed-rules.ts";

/**
 * Reads a policy file, which answers approvals in unattended runs. Throws a ConfigError that names the file, line, rule
 * and field of each mistake, and the correction. With the names of all agents, a rule for another agent is a mistake.
 */
export async function readPolicyFile(path: string, agents?: readonly string[]): Promise<PolicyRules> {
  return parsePolicy(await readText(path), path, agents);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist. Check the path after --policy.",
  EISDIR: "is a folder. Give the file in it.",
  EACCES: "cannot be read: permission is denied.",
};

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const why = PROBLEMS[code] ?? `cannot be read: ${errorMessage(error)}.`;
    throw new ConfigError(`The policy file ${path} ${why}`, { cause: error });
  }
}

/** Parses the text of a policy file. Throws as `readPolicyFile` does. */
export async function parsePolicy(
  text: string,
  path: string,
  agents?: readonly string[],
): Promise<PolicyRules> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return checked(parse(text), new PolicyText(text, path), agents);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [problem = "not TOML"] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new ConfigError(`${path} line ${error.line}: ${problem}.`, { cause: error });
  }
}

const KEYS = ["unanswered", "rule"];

function checked(
  document: Readonly<Record<string, unknown>>,
  text: PolicyText,
  agents: readonly string[] | undefined,
): PolicyRules {
  for (const key of Object.keys(document)) {
    if (!KEYS.includes(key)) text.problem(undefined, key, unknownName("key", key, KEYS));
  }
  const { unanswered = "ask", rule: tables = [] } = document;
  if (unanswered !== "ask" && unanswered !== "decline") {
    const message = `unanswered must be "decline" or "ask", not ${JSON.stringify(unanswered)}.`;
    text.problem(undefined, "unanswered", message);
  }
  const isList = Array.isArray(tables) && tables.every(isTable);
  if (!isList) text.problem(undefined, "rule", "rules must be tables; start each with [[rule]].");
  const known = { home: homeFolder() ?? "", agents };
  const rules = isList ? tables.flatMap((table, index) => ruleOf(table, index + 1, text, known)) : [];
  for (const { rule, by } of shadowedRules(rules)) {
    const message = `it has no effect: rule ${by.number} (${by.decision}) matches everything that it matches, and the strictest rule wins. Remove it, or narrow rule ${by.number}.`;
    text.problem(rule.number, undefined, message);
  }
  text.throwIfAny();
  return new FileRules(text.path, unanswered === "decline" ? "decline" : "ask", rules);
}

function ruleOf(
  table: Readonly<Record<string, unknown>>,
  number: number,
  text: PolicyText,
  known: KnownNames,
): PolicyRule[] {
  const rule = checkRule(table, known);
  if ("decision" in rule) return [{ ...rule, number, line: text.lineOf(number) }];
  for (const { field, message } of rule) text.problem(number, field, message);
  return [];
}

/** The text of a policy file, which locates the problems found in it. */
class PolicyText {
  readonly path: string;
  readonly #lines: readonly string[];
  readonly #problems: string[] = [];

  constructor(text: string, path: string) {
    this.path = path;
    this.#lines = text.split("\n");
  }

  /** The line of a rule, or of a field in it or above all rules, if it can be found. */
  lineOf(rule: number | undefined, field?: string): number | undefined {
    const headers = this.#lines.flatMap((line, index) =>
      /^\s*\[\[\s*rule\s*\]\]/.test(line) ? [index] : [],
    );
    const start = rule === undefined ? 0 : headers[rule - 1];
    const end = headers[rule ?? 0] ?? this.#lines.length;
    if (start === undefined) return undefined;
    const found = this.#lines.findIndex((line, at) => at >= start && at < end && assigns(line, field));
    if (found !== -1) return found + 1;
    return rule === undefined ? undefined : start + 1;
  }

  problem(rule: number | undefined, field: string | undefined, message: string): void {
    const line = this.lineOf(rule, field);
    const location = line === undefined ? this.path : `${this.path} line ${line}`;
    this.#problems.push(
      rule === undefined ? `${location}: ${message}` : `${location}: rule ${rule}: ${message}`,
    );
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems.join("\n"));
  }
}

function assigns(line: string, field: string | undefined): boolean {
  const written = line.trim().replace(/^["'[]+/, "");
  return (
    field !== undefined && written.startsWith(field) && /^["'\]\s]*[=.\]]/.test(written.slice(field.length))
  );
}
