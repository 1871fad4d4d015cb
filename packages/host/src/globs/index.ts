export { type Entry, FolderWalk, pathWithin, type WalkOptions } from "./folder-walk.ts";
export { type FuzzyMatch, fuzzyMatch } from "./fuzzy-match.ts";
export { Glob } from "./glob.ts";
export { IgnoreRules } from "./ignore-rules.ts";
