import { readSources } from "../source/files.ts";
import { caseIdsIn, citationsIn } from "./citations.ts";

/** For each cited id the files whose tests cite it, in order of path. */
export type Citations = ReadonlyMap<string, readonly string[]>;

/** Every claim that the tests of a workspace make. */
export type Evidence = { citations: Citations; switchedOff: readonly string[]; files: number };

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
  const switchedOff: string[] = [];
  for (const [path, source] of sources) {
    const found = citationsIn(source);
    switchedOff.push(...found.switchedOff.map((line) => `${path}:${line}`));
    const cases = path.startsWith("test/torture/") ? caseIdsIn(source) : [];
    for (const id of new Set([...found.ids, ...cases]))
      citations.set(id, [...(citations.get(id) ?? []), path]);
  }
  return { citations, switchedOff, files: sources.size };
}

function isTest(path: string): boolean {
  if (path.startsWith("packages/")) return /^packages\/[^/]+\/src\/.*\.test\.tsx?$/.test(path);
  return (
    path !== "test/requirements.ts" && !(path.startsWith("test/requirements/") && !path.endsWith(".test.ts"))
  );
}
