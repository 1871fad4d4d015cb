import { parsedObject } from "./describe-project.ts";
import { fileText } from "./file-text.ts";
import { type Flow, use } from "./flow.ts";
import type { Chore } from "./intent.ts";
import { describeRun, namesIn, notDone } from "./reports.ts";
import type { Toolbox } from "./toolbox.ts";

const WORDS: Readonly<Record<Chore, string>> = {
  test: "run the tests",
  build: "build the project",
  lint: "run the linter",
  typecheck: "check the types",
};

/** What a script or a target for a chore is usually called, the likeliest first. */
const NAMES: Readonly<Record<Chore, readonly string[]>> = {
  test: ["test", "tests", "test:unit"],
  build: ["build", "compile"],
  lint: ["lint", "check"],
  typecheck: ["typecheck", "type-check", "types", "tsc", "check"],
};

/** The commands of tools that need no script, by the file that shows that they are in use. */
const USUAL: readonly (readonly [RegExp, Partial<Record<Chore, string>>])[] = [
  [
    /^Cargo\.toml$/,
    { test: "cargo test", build: "cargo build", lint: "cargo clippy", typecheck: "cargo check" },
  ],
  [
    /^go\.mod$/,
    { test: "go test ./...", build: "go build ./...", lint: "go vet ./...", typecheck: "go vet ./..." },
  ],
  [
    /^(pyproject\.toml|pytest\.ini|setup\.(py|cfg)|tox\.ini|conftest\.py|requirements\.txt)$/,
    { test: "python3 -m pytest", lint: "python3 -m ruff check", typecheck: "python3 -m mypy ." },
  ],
  [/^pom\.xml$/, { test: "mvn test", build: "mvn package" }],
  [/^build\.gradle(\.kts)?$/, { test: "./gradlew test", build: "./gradlew build" }],
  [/^Gemfile$/, { test: "bundle exec rake test" }],
  [/^tsconfig\.json$/, { typecheck: "npx tsc --noEmit" }],
];

/** Finds out by looking how this project does a chore, then does it that way. */
export function* doChore(chore: Chore, tools: Toolbox): Flow {
  const listing = yield* use(tools.list(), `I look how to ${WORDS[chore]} here.`);
  if (listing.status !== "done") return { text: notDone("look into the folder", listing) };
  const names = namesIn(listing.text);
  const command = yield* commandFor(chore, names, tools);
  if (command === undefined) {
    const looked = "a script in package.json, a Makefile target, Cargo.toml, go.mod and the files of pytest";
    return {
      text: `I found no way to ${WORDS[chore]} here. I looked for ${looked}. Tell me the command: run \`…\`.`,
    };
  }
  const result = yield* use(tools.run(command));
  return { text: `${verdict(chore, result.exitCode, result.status)}${describeRun(command, result)}` };
}

function verdict(chore: Chore, exitCode: number | undefined, status: string): string {
  if (status === "declined" || exitCode === undefined) return "";
  if (chore !== "test") return exitCode === 0 ? "It worked. " : "It did not work. ";
  return exitCode === 0 ? "The tests pass. " : "The tests do not pass. ";
}

function* commandFor(chore: Chore, names: readonly string[], tools: Toolbox): Flow<string | undefined> {
  if (names.includes("package.json")) {
    const manifest = parsedObject(fileText(yield* use(tools.read("package.json"))));
    const script = NAMES[chore].find((name) => isScript(manifest.scripts, name));
    if (script !== undefined) return scriptCommand(script, names);
  }
  const makefile = names.find((name) => /^(GNU)?[Mm]akefile$/.test(name));
  if (makefile !== undefined) {
    const text = fileText(yield* use(tools.read(makefile)));
    const target = NAMES[chore].find((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(text));
    if (target !== undefined) return `make ${target}`;
  }
  const usual = USUAL.find(([file, commands]) => chore in commands && names.some((name) => file.test(name)));
  if (usual !== undefined) return usual[1][chore];
  const hasPython =
    names.some((name) => /^tests?\/$/.test(name)) && names.some((name) => name.endsWith(".py"));
  return chore === "test" && (hasPython || names.some((name) => /^test_.*\.py$/.test(name)))
    ? "python3 -m pytest"
    : undefined;
}

function isScript(scripts: unknown, name: string): boolean {
  if (typeof scripts !== "object" || scripts === null || !Object.hasOwn(scripts, name)) return false;
  // The script that `npm init` writes only says that there are no tests.
  return !/no test specified/.test(String(Object.entries(scripts).find(([key]) => key === name)?.[1]));
}

function scriptCommand(script: string, names: readonly string[]): string {
  const manager = names.includes("pnpm-lock.yaml")
    ? "pnpm"
    : names.includes("yarn.lock")
      ? "yarn"
      : names.some((name) => /^bun\.lockb?$/.test(name))
        ? "bun"
        : "npm";
  return script === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${script}`;
}
