import { basename } from "node:path";
import { parseSimpleCommand } from "@flint/core";
import { Glob } from "@flint/host/globs";

/** The subjects that a rule of a policy file matches. */
export type Pattern =
  | { readonly kind: "command"; readonly prefix?: readonly string[]; readonly command?: string }
  | { readonly kind: "fileChange"; readonly path?: string }
  | { readonly kind: "tool"; readonly name: string };

/** One thing that an action is about. A file has the path it was given by, and the one after resolving links. */
export type Subject =
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "fileChange"; readonly path: string | undefined; readonly realPath: string | undefined }
  | { readonly kind: "tool"; readonly name: string };

/** The result of matching a pattern; `unknown` for a command whose effect cannot be read from its words. */
export type Match = "yes" | "no" | "unknown";

/** Programs that run the command they are given, so that the first word of a command line does not show what runs. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "bash builtin busybox command csh dash doas env eval exec find fish ionice ksh nice nohup npx parallel setsid sh ssh stdbuf su sudo tcsh time timeout watch xargs zsh".split(
    " ",
  ),
);

/** Reports whether a program runs any command given to it. */
export function isWrapper(program: string): boolean {
  return WRAPPERS.has(basename(program));
}

/** Reports whether an allow rule matches, beyond doubt. */
export function allows(pattern: Pattern, subject: Subject): boolean {
  if (pattern.kind === "fileChange" && subject.kind === "fileChange") {
    const matches = (path: string | undefined) => path !== undefined && matchesPath(pattern.path, path);
    return matches(subject.path) && matches(subject.realPath);
  }
  if (pattern.kind === "command" && subject.kind === "command" && pattern.prefix !== undefined) {
    return startsWith(parseSimpleCommand(subject.command), pattern.prefix);
  }
  return matchOf(pattern, subject) === "yes";
}

/** Matches a deny or ask rule, by any of the names that a subject has. */
export function matchOf(pattern: Pattern, subject: Subject): Match {
  switch (pattern.kind) {
    case "command":
      return subject.kind === "command" ? commandMatch(pattern, subject.command) : "no";
    case "fileChange": {
      if (subject.kind !== "fileChange") return "no";
      const paths = [subject.path, subject.realPath].filter((path) => path !== undefined);
      const any = pattern.path === undefined || paths.some((path) => matchesPath(pattern.path, path));
      return any ? "yes" : "no";
    }
    case "tool":
      return subject.kind === "tool" && Glob.plain(pattern.name).matches(subject.name) ? "yes" : "no";
  }
}

/** Reports whether a rule names exactly this command. */
export function isExactly(pattern: Pattern, subject: Subject): boolean {
  return pattern.kind === "command" && subject.kind === "command" && pattern.command === subject.command;
}

function commandMatch({ prefix, command }: Extract<Pattern, { kind: "command" }>, given: string): Match {
  if (command !== undefined) return command === given ? "yes" : "no";
  if (prefix === undefined) return "yes";
  const words = parseSimpleCommand(given);
  if (words === undefined) return "unknown";
  const [program = "", ...rest] = words;
  if (startsWith([basename(program), ...rest], prefix)) return "yes";
  if (isWrapper(program)) return "unknown";
  // An option may stand before the subcommand that the prefix names: `git -C folder push`.
  const isSameProgram = basename(program) === prefix[0];
  return isSameProgram && prefix.length > 1 && rest[0]?.startsWith("-") === true ? "unknown" : "no";
}

function startsWith(words: readonly string[] | undefined, prefix: readonly string[]): boolean {
  return words !== undefined && prefix.every((word, index) => words[index] === word);
}

function matchesPath(pattern: string | undefined, path: string): boolean {
  return pattern === undefined || Glob.plain(pattern).matches(path);
}
