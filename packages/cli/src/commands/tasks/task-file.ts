import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorMessage, isRecord, METHODS, type Params } from "@flint/protocol";
import { nearest } from "@flint/view/commands";
import { parse } from "yaml";
import { UsageError } from "../../command-line/command.ts";
import { startTimeOf } from "./given-values.ts";

type Input = Params<"task/add">["tasks"][number];

/** The keys of a task in a file. Short forms stand for what the protocol writes out. */
const KEYS = [
  "name",
  "prompt",
  "title",
  "cwd",
  "base",
  "remote",
  "executor",
  "executors",
  "reviewer",
  "reviewers",
  "reviews",
  "check",
  "checks",
  "setup",
  "rounds",
  "attempts",
  "budget",
  "limits",
  "merge",
  "approvedBy",
  "allow",
  "network",
  "git",
  "after",
  "at",
  "onDependencyFailed",
  "priority",
  "pool",
  "label",
  "labels",
] as const;

/** Reads the file of tasks at a path; folders in it are relative to its own. */
export function openTaskFile(path: string): Input[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    throw new UsageError(`Cannot read --file ${path}: ${errorMessage(thrown)}`);
  }
  return readTaskFile(text, resolve(dirname(path)), path);
}

/** Reads a file of tasks: a list, or a map with `tasks` and the `defaults` of all of them. */
export function readTaskFile(text: string, folder: string, name: string): Input[] {
  const value = parseYaml(text, name);
  const listed = Array.isArray(value) ? value : isRecord(value) ? value.tasks : undefined;
  if (!Array.isArray(listed) || listed.length === 0)
    throw new UsageError(`${name} has no tasks. It must be a list, or have a list under tasks.`);
  const defaults = isRecord(value) && isRecord(value.defaults) ? value.defaults : {};
  const tasks = listed.map((entry, index) =>
    writtenOut(entry, defaults, folder, `${name}, task ${index + 1}`),
  );
  const parsed = METHODS["task/add"].params.safeParse({ tasks });
  if (parsed.success) return parsed.data.tasks;
  const [issue] = parsed.error.issues;
  const [, index, ...path] = issue?.path ?? [];
  throw new UsageError(
    `${name}, task ${Number(index) + 1}: ${path.join(".")} ${issue?.message ?? "is not valid"}`,
  );
}

function parseYaml(text: string, name: string): unknown {
  // Expected: a file that is not YAML.
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (thrown) {
    throw new UsageError(
      `${name} is not valid YAML: ${thrown instanceof Error ? thrown.message.split("\n")[0] : thrown}`,
    );
  }
}

function writtenOut(
  entry: unknown,
  defaults: Readonly<Record<string, unknown>>,
  folder: string,
  where: string,
): unknown {
  const given = typeof entry === "string" ? { prompt: entry } : entry;
  if (!isRecord(given)) throw new UsageError(`${where} must be a prompt or a map of keys.`);
  const all: Record<string, unknown> = { ...defaults, ...given };
  for (const key of Object.keys(all)) {
    if (KEYS.some((known) => known === key)) continue;
    const meant = nearest(key, KEYS);
    throw new UsageError(
      `${where}: unknown key ${key}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`,
    );
  }
  const {
    executor,
    reviewer,
    check,
    executors = executor,
    reviewers = reviewer,
    checks = check,
    cwd,
    after,
    at,
    setup,
    remote,
    label,
    labels = label,
    ...rest
  } = all;
  return {
    ...rest,
    cwd: resolve(folder, typeof cwd === "string" ? cwd : "."),
    ...(executors === undefined ? {} : { executors: list(executors).map(named("model")) }),
    ...(reviewers === undefined ? {} : { reviewers: list(reviewers).map(named("model")) }),
    ...(checks === undefined ? {} : { checks: list(checks).map(named("command")) }),
    ...(remote === undefined ? {} : { remote: named("url")(remote) }),
    ...(labels === undefined ? {} : { labels: list(labels) }),
    ...(setup === undefined ? {} : { setup: named("command")(setup) }),
    ...(after === undefined ? {} : { after: list(after) }),
    ...(at === undefined ? {} : { notBeforeMs: startTimeOf(at, Date.now(), `${where}: at`) }),
  };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function named(key: string): (value: unknown) => unknown {
  return (value) => (typeof value === "string" ? { [key]: value } : value);
}
