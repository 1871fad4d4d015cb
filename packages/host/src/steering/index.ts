export { type Digest, type DigestLimits, digestFiles, digestOf, filesIn } from "./digest.ts";
export { type GitSetting, gitOverrides, steeringGitConfig } from "./git-settings.ts";
export { type GitSteering, gitSteering } from "./git-steering.ts";
