import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type CheckResult,
  comparisonFinding,
  differences,
  findingLines,
  isAddress,
  jsonReport,
  recordingOf,
  SUITES,
  summaryLine,
  type TestOptions,
  tally,
  testServer,
} from "@flint/conformance";
import { inheritedEnvironment } from "@flint/server/environment";
import { FRONTEND_NAMES, type FrontendName } from "@flint/server/frontends";
import { readToken } from "@flint/server/listeners";
import { escapeControls } from "@flint/view";
import { choice, numberOption, UsageError } from "../command-line/command.ts";
import { print, printJson } from "../command-line/output.ts";

interface ConformanceArguments {
  readonly values: {
    readonly protocol?: string | undefined;
    readonly json?: boolean | undefined;
    readonly only?: string | undefined;
    readonly cwd?: string | undefined;
    readonly timeout?: string | undefined;
    readonly "offline-model"?: boolean | undefined;
    readonly "token-file"?: string | undefined;
    readonly schemas?: string | undefined;
    readonly record?: string | undefined;
    readonly compare?: string | undefined;
  };
  readonly positionals: readonly string[];
}

const DEFAULT_SECONDS = "30";

/** `flint conformance`: runs the suite of a protocol against a server and prints the result of each check. */
export async function conformance({ values, positionals }: ConformanceArguments): Promise<number> {
  const protocol = protocolOf(values.protocol);
  const words = wordsOf(positionals);
  const label = words.join(" ");
  const progress = new Progress(values.json !== true);
  if (values.json !== true) print(`Testing ${escapeControls(label)} against the ${protocol} protocol\n`);
  const started = Date.now();
  const report = (result: CheckResult): void => progress.report(result);
  const tested = await testServer({ words, protocol, ...optionsOf(values), report });
  const results = [...tested, ...(await compared(tested, protocol, values))];
  for (const result of results.slice(tested.length)) report(result);
  if (values.json === true) printJson(jsonReport(label, protocol, results));
  else print(`\n${summaryLine(results, (Date.now() - started) / 1000)}`);
  return tally(results).failed === 0 ? 0 : 1;
}

/** Records the messages of the server and compares them with a recording, as the options ask. */
async function compared(
  results: readonly CheckResult[],
  protocol: FrontendName,
  { record, compare }: ConformanceArguments["values"],
): Promise<CheckResult[]> {
  const recording = recordingOf(results);
  if (record !== undefined) await writeFile(record, `${JSON.stringify(recording, undefined, 1)}\n`);
  if (compare === undefined) return [];
  const { tolerances } = await SUITES[protocol]();
  const problems = differences(JSON.parse(await readFile(compare, "utf8")), recording, tolerances);
  return [comparisonFinding(compare, problems)];
}

function optionsOf(
  values: ConformanceArguments["values"],
): Omit<TestOptions, "words" | "protocol" | "report"> {
  const { only, cwd, schemas, "offline-model": offline, "token-file": tokenFile } = values;
  return {
    environment: inheritedEnvironment(),
    cwd: cwd === undefined ? undefined : resolve(cwd),
    timeoutMs: secondsOf(values.timeout) * 1000,
    only,
    offline,
    schemas: schemas === undefined ? undefined : resolve(schemas),
    token: tokenFile === undefined ? undefined : readToken(resolve(tokenFile)),
  };
}

/** Prints each check when it has run, under the heading of its group. */
class Progress {
  readonly #requested: boolean;
  #about = "";

  constructor(requested: boolean) {
    this.#requested = requested;
  }

  report(result: CheckResult): void {
    if (!this.#requested) return;
    if (result.about !== this.#about) print(`\n${result.about}\n`);
    this.#about = result.about;
    print(findingLines(result));
  }
}

function protocolOf(name: string | undefined): FrontendName {
  if (name !== undefined) return choice("protocol", name, FRONTEND_NAMES);
  throw new UsageError(`conformance needs --protocol: ${FRONTEND_NAMES.join(", ")}.`);
}

/** A single argument is an address or a command line; several are a program and its arguments. */
function wordsOf(positionals: readonly string[]): readonly [string, ...string[]] {
  const [first, ...more] = positionals;
  if (first === undefined) {
    throw new UsageError("conformance needs a server: an address such as ws://127.0.0.1:4747, or a command.");
  }
  if (more.length > 0 || isAddress(first)) return [first, ...more];
  const [program = first, ...rest] = (first.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map(unquoted);
  return [program, ...rest];
}

function unquoted(word: string): string {
  return /^(["']).*\1$/.test(word) ? word.slice(1, -1) : word;
}

function secondsOf(text = DEFAULT_SECONDS): number {
  return numberOption(
    "timeout",
    text,
    "a number of seconds above 0",
    (seconds) => seconds > 0 && seconds < Infinity,
  );
}
