export type { CheckResult } from "./check.ts";
export { differences } from "./comparison.ts";
export { recordingOf } from "./recording.ts";
export { comparisonFinding, findingLines, jsonReport, summaryLine, tally } from "./report.ts";
export { isAddress } from "./target.ts";
export { SUITES, type TestOptions, testServer } from "./test-server.ts";
