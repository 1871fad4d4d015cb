export { differences } from "./recording/comparison.ts";
export { recordingOf } from "./recording/recording.ts";
export { comparisonFinding, findingLines, jsonReport, summaryLine, tally } from "./report.ts";
export type { CheckResult } from "./runner.ts";
export { isAddress } from "./target.ts";
export { SUITES, type TestOptions, testServer } from "./test-server.ts";
