import { FileAccessError } from "@flint/host/files";
import { isProtectedName } from "@flint/host/protected-names";

/**
 * Hidden names that affect neither agents nor shells. Every other hidden name can only be written by a command, and at the
 * top of the workspace not even by that if the sandbox protects it.
 */
const ALLOWED_HIDDEN = new Set([
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

/** Other names of `.git` on file systems with short names. */
const SHORT_GIT = /^git~\d/i;

/**
 * Throws a FileAccessError if a name on the path of a file is protected, whether it exists or not. Only listed hidden names
 * pass, compared exactly, so neither case nor invisible characters bypass it.
 */
export function rejectProtected(path: string): void {
  const found = path.split("/").find((name, depth) => {
    const isHidden = name.startsWith(".") && !ALLOWED_HIDDEN.has(name);
    return isHidden || SHORT_GIT.test(name) || (depth === 0 && isProtectedName(name));
  });
  if (found === undefined) return;
  throw new FileAccessError(`${found} may affect agents, editors or shells, so this tool does not write it.`);
}
