import { readSources } from "../source/files.ts";
import { caseIdsIn, citationsIn } from "./citations.ts";

/** For each cited id the files whose tests cite it, in order of path. */
export type Citations = ReadonlyMap<string, readonly string[]>;

/** Every claim that the tests of a workspace make. */
export type Evidence = {
  citations: Citations;
  /** The same for ids in the titles of groups, which prove nothing. */
  ofGroups: Citations;
  /** Ids that only cases of `npm run torture` name. */
  ofTorture: ReadonlySet<string>;
  /** Tests that are switched off or empty, as `path:line`. */
  switchedOff: readonly string[];
  empty: readonly string[];
};

/** Reads every test of the workspace and gathers what it cites. The manifest itself is not a test. */
export function collectEvidence(root: string): Evidence {
  const sources = [...readSources(root, "packages"), ...readSources(root, "test")].filter(([path]) =>
    isTest(path),
  );
  return gatherEvidence(new Map(sources));
}

/** The same over texts already read: path to source. */
export function gatherEvidence(sources: ReadonlyMap<string, string>): Evidence {
  const citations = new Map<string, string[]>();
  const ofGroups = new Map<string, string[]>();
  const switchedOff: string[] = [];
  const empty: string[] = [];
  const ofTests = new Set<string>();
  for (const [path, source] of sources) {
    const found = citationsIn(source);
    switchedOff.push(...found.switchedOff.map((line) => `${path}:${line}`));
    empty.push(...found.empty.map((line) => `${path}:${line}`));
    const cases = path.startsWith("test/torture/") ? caseIdsIn(source) : [];
    for (const id of found.ids) ofTests.add(id);
    add(citations, path, [...found.ids, ...cases]);
    add(ofGroups, path, found.ofGroups);
  }
  const ofTorture = new Set([...citations.keys()].filter((id) => !ofTests.has(id)));
  return { citations, ofGroups, ofTorture, switchedOff, empty };
}

function add(citations: Map<string, string[]>, path: string, ids: readonly string[]): void {
  for (const id of new Set(ids)) citations.set(id, [...(citations.get(id) ?? []), path]);
}

function isTest(path: string): boolean {
  // The shared suites register tests in the name of the files that call them.
  if (path.startsWith("packages/testkit/src/conformance/")) return true;
  if (path.startsWith("packages/")) return /^packages\/[^/]+\/src\/.*\.test\.tsx?$/.test(path);
  return (
    path !== "test/requirements.ts" && !(path.startsWith("test/requirements/") && !path.endsWith(".test.ts"))
  );
}
