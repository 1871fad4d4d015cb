import { join } from "node:path";
import { readSources } from "./source/files.ts";

/**
 * Campaigns, checks of further programs, stories that try each client with each agent, and those that try every fault and
 * trap of git and of tasks in a repository of its own: they take about as long as all other tests together.
 */
export const LONG_TESTS = ["packages/*/src/**/*.long.test.ts", "test/**/*.long.test.ts"];

/**
 * Reports whether the long tests run too: if that was asked for, if every part is required, or if one of them
 * was named.
 */
export function runsLongTests(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  args: readonly string[] = process.argv,
): boolean {
  const { FLINT_TEST_LONG = "", FLINT_TEST_REQUIRE = "" } = environment;
  const isRequired = FLINT_TEST_REQUIRE.split(",").some((part) => part.trim() === "all");
  return FLINT_TEST_LONG === "1" || isRequired || args.some((word) => word.includes(".long."));
}

/** Returns the lines at the end of a whole run about the long tests that it left out, if any. */
export function leftOutLines(root: string, ran: ReadonlySet<string>): readonly string[] {
  const paths = ["packages", "test"].flatMap((folder) => [...readSources(root, folder).keys()]);
  const missing = paths.filter((path) => path.endsWith(".long.test.ts") && !ran.has(join(root, path)));
  const { length } = missing;
  if (length === 0) return [];
  const files = length === 1 ? "1 file" : `${length} files`;
  return [`NOT RUN ${files} of long tests: FLINT_TEST_LONG=1 npm test runs them`];
}
