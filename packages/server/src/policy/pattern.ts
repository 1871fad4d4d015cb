import { basename } from "node:path";
import { parseSimpleCommand } from "@flint/core";
import { Glob } from "@flint/host/globs";

/** What a rule of a policy file speaks of. */
export type Pattern =
  | { readonly kind: "command"; readonly prefix?: readonly string[]; readonly command?: string }
  | { readonly kind: "fileChange"; readonly path?: string }
  | { readonly kind: "tool"; readonly name: string };

/** One thing that an action is about. A file has the path it was named by, and the one that its links lead to. */
export type Subject =
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "fileChange"; readonly path: string | undefined; readonly realPath: string | undefined }
  | { readonly kind: "tool"; readonly name: string };

/** `unsure`: it may be what the pattern speaks of, but what it does cannot be seen from its words. */
export type Fit = "yes" | "no" | "unsure";

/** Programs that run whatever they are given; what that is does not stand at the beginning of the command. */
const RUNS_OTHERS: ReadonlySet<string> = new Set(
  "bash builtin busybox command csh dash doas env eval exec find fish ionice ksh nice nohup npx parallel setsid sh ssh stdbuf su sudo tcsh time timeout watch xargs zsh".split(
    " ",
  ),
);

/** Whether a program runs whatever it is given. */
export function runsOthers(program: string): boolean {
  return RUNS_OTHERS.has(basename(program));
}

/** Whether a rule that allows speaks of this: only if there is no doubt. */
export function isAllowedBy(pattern: Pattern, subject: Subject): boolean {
  if (pattern.kind === "fileChange" && subject.kind === "fileChange") {
    const fits = (path: string | undefined) => path !== undefined && fitsPath(pattern.path, path);
    return fits(subject.path) && fits(subject.realPath);
  }
  if (pattern.kind === "command" && subject.kind === "command" && pattern.prefix !== undefined) {
    return beginsWith(parseSimpleCommand(subject.command), pattern.prefix);
  }
  return fitOf(pattern, subject) === "yes";
}

/** Whether a rule that denies or asks speaks of this, by whatever name. */
export function fitOf(pattern: Pattern, subject: Subject): Fit {
  switch (pattern.kind) {
    case "command":
      return subject.kind === "command" ? commandFit(pattern, subject.command) : "no";
    case "fileChange": {
      if (subject.kind !== "fileChange") return "no";
      const paths = [subject.path, subject.realPath].filter((path) => path !== undefined);
      const any = pattern.path === undefined || paths.some((path) => fitsPath(pattern.path, path));
      return any ? "yes" : "no";
    }
    case "tool":
      return subject.kind === "tool" && Glob.plain(pattern.name).matches(subject.name) ? "yes" : "no";
  }
}

/** Whether a rule names exactly this command, every sign of it. */
export function namesExactly(pattern: Pattern, subject: Subject): boolean {
  return pattern.kind === "command" && subject.kind === "command" && pattern.command === subject.command;
}

function commandFit({ prefix, command }: Extract<Pattern, { kind: "command" }>, given: string): Fit {
  if (command !== undefined) return command === given ? "yes" : "no";
  if (prefix === undefined) return "yes";
  const words = parseSimpleCommand(given);
  if (words === undefined) return "unsure";
  const [program = "", ...rest] = words;
  if (beginsWith([basename(program), ...rest], prefix)) return "yes";
  if (runsOthers(program)) return "unsure";
  // An option may stand before the subcommand that the prefix names: `git -C folder push`.
  const isSameProgram = basename(program) === prefix[0];
  return isSameProgram && prefix.length > 1 && rest[0]?.startsWith("-") === true ? "unsure" : "no";
}

function beginsWith(words: readonly string[] | undefined, prefix: readonly string[]): boolean {
  return words !== undefined && prefix.every((word, place) => words[place] === word);
}

function fitsPath(pattern: string | undefined, path: string): boolean {
  return pattern === undefined || Glob.plain(pattern).matches(path);
}
