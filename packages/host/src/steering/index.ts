export { type Digest, type DigestLimits, digestFiles, digestOf, filesIn } from "./digest.ts";
export {
  type GitSetting,
  gitOverrides,
  overridesOf,
  type ScopedGitSetting,
  steeringGitConfig,
} from "./git-settings.ts";
export { type GitSteering, gitSteering } from "./git-steering.ts";
export { KnownSettings, LIST_SETTINGS, type SettingsList } from "./known-settings.ts";

/** The file that names ignored files which the worktrees of tasks get too, in the syntax of `.gitignore`. */
export const INCLUDE_FILE = ".worktreeinclude";
