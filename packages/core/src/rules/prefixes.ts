import { hasHiddenCharacters } from "../hidden-characters.ts";
import { parseSimpleCommand } from "../simple-command.ts";

/** What may be offered as a prefix for one program. */
interface Family {
  /** Subcommands that stand for themselves, whatever follows. */
  readonly alone?: readonly string[];
  /** Subcommands that run what the next word names, so that word belongs to the prefix. */
  readonly withNext?: readonly string[];
  /** Options with which it would run another program or write somewhere else; no prefix covers them. */
  readonly never?: RegExp;
}

/**
 * The only programs that a prefix is offered for. A program that is not here (a shell, an interpreter, a wrapper such
 * as env or sudo, anything unknown) can be allowed only by the exact command.
 */
const FAMILIES: Readonly<Record<string, Family>> = {
  biome: { alone: ["check", "ci", "format", "lint"], never: /^--config-path/ },
  bun: { alone: ["test"], withNext: ["run"], never: /^(--preload|-r$|--require|--config|-c$)/ },
  cargo: {
    alone: ["bench", "build", "check", "clippy", "doc", "fmt", "test"],
    never: /^(--config|--manifest-path|-Z|-C)/,
  },
  deno: { alone: ["check", "fmt", "lint"], withNext: ["task"], never: /^(--config|-c$|--cwd)/ },
  dotnet: { alone: ["build", "format", "test"] },
  git: {
    alone: ["add", "branch", "commit", "diff", "log", "restore", "show", "status", "switch"],
    // Git also takes the beginning of a long option for the whole.
    never: /^--(ext|textc|ou|op|exec|up|rece)/,
  },
  go: { alone: ["build", "fmt", "list", "test", "vet"], never: /^--?(exec|toolexec|vettool|overlay|C$|C=)/ },
  npm: {
    alone: ["test"],
    withNext: ["run", "run-script"],
    never: /^(--(scr|shell|pref|userc|globalc|node-o)|-C)/,
  },
  pnpm: { alone: ["test"], withNext: ["run"], never: /^(--(scr|shell|pref|dir|node-o)|-C)/ },
  ruff: { alone: ["check", "format"], never: /^--config/ },
  yarn: { alone: ["test"], withNext: ["run"], never: /^(--cwd|--use-yarnrc|--script-shell)/ },
};

/** Names under which a script runner would start an interpreter or a wrapper instead of a script. */
const RUNS_ANYTHING =
  /^(ba|da|z|k|c|tc|fi)?sh$|^(bunx?|deno|doas|env|exec|find|git|node|nohup|npm|npx|nice|perl|php|pnpm|pnpx|python[\d.]*|ruby|ssh|sudo|tsx|ts-node|time|timeout|xargs|yarn)$/;

const SUBCOMMAND = /^[a-z][a-z-]*$/;
const SCRIPT_NAME = /^[A-Za-z0-9][\w:.-]*$/;

/**
 * The prefix that may be allowed in place of exactly this command; undefined if only the command itself may be. What
 * a prefix rule covers is asked of this very function, so it covers exactly the commands it would be offered for.
 */
export function prefixOf(command: string): readonly string[] | undefined {
  if (hasHiddenCharacters(command)) return undefined;
  const [program = "", subcommand = "", next = "", ...rest] = parseSimpleCommand(command) ?? [];
  const family = Object.hasOwn(FAMILIES, program) ? FAMILIES[program] : undefined;
  if (family === undefined || !SUBCOMMAND.test(subcommand)) return undefined;
  if ([next, ...rest].some((word) => family.never?.test(word) === true)) return undefined;
  if (family.alone?.includes(subcommand) === true) return [program, subcommand];
  const isScript = SCRIPT_NAME.test(next) && !RUNS_ANYTHING.test(next);
  if (family.withNext?.includes(subcommand) === true && isScript) return [program, subcommand, next];
  return undefined;
}
