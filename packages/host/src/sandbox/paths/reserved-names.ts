import { userInfo } from "node:os";
import { readRegularTextSync } from "../../files/regular-file.ts";
import { PROTECTED_NAMES } from "./protected-names.ts";

/** Names that programs read only in a home folder; anywhere else a new file of that name steers nothing. */
const HOME_NAMES: ReadonlySet<string> = new Set([
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"],
  ...[".gitconfig", ".ripgreprc", ".ssh"],
]);

/**
 * Names whose readers do not obey a new file: direnv runs an `.envrc` only after it was allowed, by its content, git
 * takes nothing but addresses and paths from `.gitmodules`, which are checked when commits are taken over, and
 * `.goosehints` is text for a model like `AGENTS.md`.
 */
const CHECKED_NAMES: ReadonlySet<string> = new Set([".envrc", ".gitmodules", ".goosehints"]);

const MAX_BYTES = 1024 * 1024;

/** Decides which protected names have to be held while they are missing. Those that exist are protected in any case. */
export class ReservedNames {
  readonly #homes: ReadonlySet<string>;

  /** `homes` are home folders beside those of the users of this machine. */
  constructor(homes: readonly string[] = []) {
    this.#homes = new Set([...homes, userInfo().homedir, ...listedHomes()]);
  }

  /** The names to hold at the top of a folder, which is a real path. */
  in(root: string): readonly string[] {
    const isHome = this.#homes.has(root);
    return PROTECTED_NAMES.filter((name) => !CHECKED_NAMES.has(name) && (isHome || !HOME_NAMES.has(name)));
  }
}

/** The home folders in the list of users. */
function listedHomes(): string[] {
  const users = readRegularTextSync("/etc/passwd", MAX_BYTES)?.split("\n") ?? [];
  return users.flatMap((user) => user.split(":")[5] ?? []);
}
