import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, those with real agents first; by name, because a fresh clone has no durations to go by. */
const SLOW = [
  /\.long\.test/,
  /conformance\.test|sandbox-policy|agent-folders|private-git/,
  /claude\/session|e2e\/cli\./,
  /hostile/,
  /codex\/tui/,
  /drivers\/src\/(claude|codex|acp)\//,
  /test\/e2e\//,
];

/** Starts slow files first, so that no worker is left alone with one at the end. */
export class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = SLOW.findIndex((pattern) => pattern.test(moduleId));
  return at === -1 ? SLOW.length : at;
}
