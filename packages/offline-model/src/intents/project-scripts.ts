import { parseObject } from "./descriptions.ts";
import { fileText } from "./file-text.ts";
import { describeRun, failure, namesIn } from "./replies.ts";
import { call, type Task } from "./task.ts";
import type { Toolbox } from "./toolbox.ts";

/** What every project has its own command for. */
export type ProjectScript = "test" | "build" | "lint" | "typecheck";

/** What each script is for, and what package.json and Makefiles usually call it. */
const SCRIPTS: Readonly<Record<ProjectScript, { readonly goal: string; readonly names: readonly string[] }>> =
  {
    test: { goal: "run the tests", names: ["test", "tests"] },
    build: { goal: "build the project", names: ["build", "compile"] },
    lint: { goal: "run the linter", names: ["lint", "check"] },
    typecheck: { goal: "check the types", names: ["typecheck", "types", "check"] },
  };

/** Commands that need no script, by the file that shows which tool a project uses. */
const COMMANDS: readonly (readonly [RegExp, Partial<Record<ProjectScript, string>>])[] = [
  [
    /^Cargo\.toml$/,
    { test: "cargo test", build: "cargo build", lint: "cargo clippy", typecheck: "cargo check" },
  ],
  [/^go\.mod$/, { test: "go test ./...", build: "go build ./...", lint: "go vet ./..." }],
  [/^(pyproject\.toml|pytest\.ini|test_.*\.py)$/, { test: "python3 -m pytest" }],
];

/** Finds out how this project runs its tests, build, linter or type check, then runs that. */
export function* runScript(script: ProjectScript, tools: Toolbox): Task {
  const { goal } = SCRIPTS[script];
  const listing = yield* call(tools.list(), `I look how to ${goal} here.`);
  if (listing.status !== "done") return failure("look into the folder", listing);
  const command = yield* commandFor(script, namesIn(listing.text), tools);
  if (command === undefined) {
    const looked = "a script in package.json, a Makefile target, Cargo.toml, go.mod and the files of pytest";
    return `I found no way to ${goal} here. I looked for ${looked}. Give me the command: run \`…\`.`;
  }
  const result = yield* call(tools.run(command));
  const isTest = script === "test" && result.exitCode !== undefined;
  const verdict = result.exitCode === 0 ? "The tests pass. " : "The tests do not pass. ";
  return `${isTest ? verdict : ""}${describeRun(command, result)}`;
}

function* commandFor(
  script: ProjectScript,
  files: readonly string[],
  tools: Toolbox,
): Task<string | undefined> {
  const { names } = SCRIPTS[script];
  if (files.includes("package.json")) {
    const { scripts } = parseObject(fileText(yield* call(tools.read("package.json"))));
    const found = names.find((name) => hasScript(scripts, name));
    const manager = files.includes("pnpm-lock.yaml") ? "pnpm" : "npm";
    if (found !== undefined) return found === "test" ? `${manager} test` : `${manager} run ${found}`;
  }
  if (files.includes("Makefile")) {
    const makefile = fileText(yield* call(tools.read("Makefile")));
    const target = names.find((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(makefile));
    if (target !== undefined) return `make ${target}`;
  }
  return COMMANDS.find(([file]) => files.some((name) => file.test(name)))?.[1][script];
}

/** The script that `npm init` writes only says that there are no tests. */
function hasScript(scripts: unknown, name: string): boolean {
  const entries = typeof scripts === "object" && scripts !== null ? Object.entries(scripts) : [];
  return entries.some(([key, command]) => key === name && !/no test specified/.test(String(command)));
}
