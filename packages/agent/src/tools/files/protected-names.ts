import { FileAccessError } from "@flint/host/files";

/** Hidden names that steer neither agents nor shells. Every other hidden name is left to commands the user can see. */
const HARMLESS_HIDDEN = new Set([
  ".babelrc",
  ".browserslistrc",
  ".changeset",
  ".clang-format",
  ".dockerignore",
  ".editorconfig",
  ".env.example",
  ".eslintignore",
  ".gitattributes",
  ".github",
  ".gitignore",
  ".gitkeep",
  ".keep",
  ".node-version",
  ".npmignore",
  ".nvmrc",
  ".prettierignore",
  ".prettierrc",
  ".prettierrc.json",
  ".python-version",
  ".ruby-version",
  ".stylelintrc.json",
  ".swcrc",
]);

/** Other names of `.git` on file systems that know short ones. */
const SHORT_GIT = /^git~\d/i;

/**
 * Throws a FileRefusal if a name on the way to a file is protected, whether it exists or not. Only listed hidden names
 * pass, letter by letter, so neither case nor invisible characters make a way around.
 */
export function rejectProtected(path: string): void {
  const found = path
    .split("/")
    .find((name) => (name.startsWith(".") && !HARMLESS_HIDDEN.has(name)) || SHORT_GIT.test(name));
  if (found === undefined) return;
  throw new FileAccessError(`${found} may steer agents, editors or shells, so it is not written this way.`);
}
