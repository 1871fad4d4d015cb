import { hasHiddenCharacters } from "../text/characters.ts";
import { parseSimpleCommand } from "../text/shell-words.ts";

/** The prefixes that may be offered for one program. */
interface Family {
  /** Subcommands that form a prefix on their own, whatever words follow. */
  readonly alone?: readonly string[];
  /** Subcommands that run what the next word names, so that word is part of the prefix. */
  readonly withNext?: readonly string[];
  /**
   * The only options that a prefix covers, as whole words, dashes included, without `=value`. Programs
   * accept any number of dashes, abbreviations and new options with every release, so a list of dangerous ones never ends.
   */
  readonly options: ReadonlySet<string>;
  /** Subcommands that pass everything after `--` to the script or test, which runs anyway. */
  readonly passesOn?: readonly string[];
}

/** Options that make a script runner print less; any other may change which script runs, where and with what. */
const SCRIPT_RUNNER_OPTIONS = listed("-s --silent --if-present");

/**
 * The only programs for which a prefix is offered. Anything else (a shell, an interpreter, a wrapper such as env or
 * sudo, an unknown program) can only be allowed as an exact command.
 */
const FAMILIES: Readonly<Record<string, Family>> = {
  biome: {
    alone: ["check", "ci", "format", "lint"],
    options: listed("--write --fix --unsafe --staged --changed --verbose --colors --max-diagnostics"),
  },
  bun: {
    alone: ["test"],
    withNext: ["run"],
    options: listed("-t --test-name-pattern --bail --timeout --only --todo --coverage --silent"),
    passesOn: ["run"],
  },
  cargo: {
    alone: ["bench", "build", "check", "clippy", "doc", "fmt", "test"],
    options: listed(
      "-p --package --workspace --all --all-targets --all-features --no-default-features -F --features --lib --bin --bins",
      "--test --tests --example --examples --bench --benches --doc --release -r -v --verbose -q --quiet --locked --offline",
      "--frozen --no-run --no-fail-fast --keep-going -j --jobs --message-format --no-deps --check",
    ),
    passesOn: ["bench", "test"],
  },
  deno: {
    alone: ["check", "fmt", "lint"],
    withNext: ["task"],
    options: listed("-q --quiet --check --fix --json"),
    passesOn: ["task"],
  },
  dotnet: {
    alone: ["build", "format", "test"],
    options: listed(
      "-c --configuration --filter --no-build --no-restore -v --verbosity --nologo --list-tests",
    ),
  },
  git: {
    alone: ["add", "branch", "commit", "diff", "log", "restore", "show", "status", "switch"],
    options: listed(
      "-a -A -am -b -c -m -p -q -s -sb -u -U -v -vv -z -1 -2 -3 -5 -10 -20 -50 --all --amend --author --branch --cached",
      "--create --decorate --diff-filter --follow --graph --grep --list --max-count --merges --message --name-only",
      "--name-status --no-color --no-edit --no-merges --numstat --oneline --patch --porcelain --quiet --reverse --short",
      "--shortstat --show-current --signoff --since --staged --stat --until --untracked-files --update --verbose",
      "--word-diff --worktree",
    ),
  },
  go: {
    alone: ["build", "fmt", "list", "test", "vet"],
    options: listed(
      "-v -race -short -run -skip -count -bench -benchmem -benchtime -timeout -cover -failfast -json -parallel -p -list",
      "-shuffle -cpu -n -x",
    ),
  },
  npm: scriptRunner("run", "run-script"),
  pnpm: scriptRunner("run"),
  ruff: {
    alone: ["check", "format"],
    options: listed(
      "--fix --diff --check --select --ignore -q --quiet --statistics --unsafe-fixes --show-fixes",
    ),
  },
  yarn: scriptRunner("run"),
};

function scriptRunner(...run: string[]): Family {
  return { alone: ["test"], withNext: run, options: SCRIPT_RUNNER_OPTIONS, passesOn: ["test", ...run] };
}

function listed(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
}

/** Reports whether a prefix covers another word: plain words, and the listed options. */
function isCovered({ options }: Family, word: string): boolean {
  if (word.startsWith("-")) return options.has(word.replace(/=.*$/s, ""));
  // Some programs read more options from @file, and MSBuild accepts a slash for a dash.
  return !/^(@|\/[A-Za-z]+:)/.test(word);
}

/** Names with which a script runner would start an interpreter or a wrapper instead of a script. */
const RUNS_ANYTHING =
  /^(ba|da|z|k|c|tc|fi)?sh$|^(bunx?|deno|doas|env|exec|find|git|node|nohup|npm|npx|nice|perl|php|pnpm|pnpx|python[\d.]*|ruby|ssh|sudo|tsx|ts-node|time|timeout|xargs|yarn)$/;

const SUBCOMMAND = /^[a-z][a-z-]*$/;
const SCRIPT_NAME = /^[A-Za-z0-9][\w:.-]*$/;

/**
 * The prefix that may be allowed in place of exactly this command; undefined if only the command itself may be. Also
 * decides what a prefix rule covers, so a rule covers exactly the commands for which it is offered.
 */
export function prefixOf(command: string): readonly string[] | undefined {
  if (hasHiddenCharacters(command)) return undefined;
  const [program = "", subcommand = "", ...words] = parseSimpleCommand(command) ?? [];
  const [next = ""] = words;
  const family = Object.hasOwn(FAMILIES, program) ? FAMILIES[program] : undefined;
  if (family === undefined || !SUBCOMMAND.test(subcommand)) return undefined;
  const end = family.passesOn?.includes(subcommand) === true ? words.indexOf("--") : -1;
  const own = end === -1 ? words : words.slice(0, end);
  if (!own.every((word) => isCovered(family, word))) return undefined;
  if (family.alone?.includes(subcommand) === true) return [program, subcommand];
  const isScript = SCRIPT_NAME.test(next) && !RUNS_ANYTHING.test(next);
  if (family.withNext?.includes(subcommand) === true && isScript) return [program, subcommand, next];
  return undefined;
}
