import { errorMessage } from "@flint/protocol";
/** A planted fault: one change of one file that breaks one promise, and the tests that have to notice. */
export type Mutation = {
  /** The name for `--only` and in the report. */
  name: string;
  /** The promise that it breaks, as a sentence. */
  promise: string;
  /** The file that is changed, from the root of the workspace. */
  file: string;
  /** The text that is replaced; it has to be in the file exactly once. */
  find: string;
  replace: string;
  /** The test files that have to notice, from the root of the workspace. */
  tests: readonly string[];
  /** Runs only the tests whose name contains this, where a file also has slow ones. */
  only?: string;
};

/** The text of a file with the fault in it. Throws if the list no longer fits the file. */
export function mutated({ name, file, find, replace }: Mutation, source: string): string {
  const positions = source.split(find).length - 1;
  if (find === replace) throw new Error(`${name} changes nothing.`);
  if (positions !== 1)
    throw new Error(
      `${name} fits ${positions} places of ${file} instead of one. Change \`find\` in the list.`,
    );
  return source.replace(find, () => replace);
}

/** The problem with a list before anything is run, as sentences: `read` gives the text of a file, if it exists. */
export function problemsOf(
  mutations: readonly Mutation[],
  read: (path: string) => string | undefined,
): string[] {
  const names = mutations.map(({ name }) => name);
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...repeated.map((name) => `${name} is in the list more than once.`),
    ...mutations.flatMap((mutation) => fileProblems(mutation, read)),
  ];
}

function fileProblems(mutation: Mutation, read: (path: string) => string | undefined): string[] {
  const { name, file, tests } = mutation;
  const source = read(file);
  const missing = tests.filter((path) => read(path) === undefined);
  const problems = missing.map((path) => `${name} names the test ${path}, which does not exist.`);
  if (tests.length === 0) problems.push(`${name} names no test.`);
  if (source === undefined) return [...problems, `${name} changes ${file}, which does not exist.`];
  // Expected: the file has changed since the mutation was written.
  try {
    mutated(mutation, source);
    return problems;
  } catch (thrown) {
    return [...problems, errorMessage(thrown)];
  }
}
