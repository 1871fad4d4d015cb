import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, those with real agents first; by name, because a fresh clone has no durations to go by. Then
 * those that start many processes, because starting one takes longer the more memory a worker holds.
 */
const FIRST = [
  /\.long\.test/,
  /conformance\.test|sandbox-policy|agent-folders|private-git/,
  /claude\/session|e2e\/cli\./,
  /hostile/,
  /codex\/tui/,
  /drivers\/src\/(claude|codex|acp)\//,
  /test\/e2e\//,
  /server\/src\/(tasks|fleet)/,
  /host\/src\/(git|worktrees|sandbox|checkpoints)\//,
];

/** Files after which a worker holds 100 MB more. */
const LAST =
  /store\/(damage|log\/record)|visible-script|many-clients|shell-words|tui\/src\/app\/faults|text-delta/;

/** Starts slow files first, so that no worker is left alone with one at the end. */
export class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  if (LAST.test(moduleId)) return FIRST.length + 1;
  const at = FIRST.findIndex((pattern) => pattern.test(moduleId));
  return at === -1 ? FIRST.length : at;
}
