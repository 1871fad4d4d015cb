export { differences } from "./conformance/comparison.ts";
export { recordingOf } from "./conformance/recording.ts";
export { comparisonFinding, findingLines, jsonReport, summaryLine, tally } from "./conformance/report.ts";
export type { Finding } from "./conformance/runner.ts";
export { isAddress } from "./conformance/target.ts";
export { SUITES, type TryOptions, tryServer } from "./conformance/try-server.ts";
