import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  comparisonFinding,
  differences,
  type Finding,
  findingLines,
  isAddress,
  jsonReport,
  recordingOf,
  SUITES,
  summaryLine,
  type TryOptions,
  tally,
  tryServer,
} from "@flint/server/conformance";
import { inheritedEnvironment } from "@flint/server/environment";
import { FRONTEND_NAMES, type FrontendName } from "@flint/server/frontends";
import { readToken } from "@flint/server/listeners";
import { visible } from "@flint/view";
import { choice, numberOption, UsageError } from "../command-line/arguments.ts";
import { say, sayJson } from "../command-line/output.ts";

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
  const door = protocolOf(values.protocol);
  const words = wordsOf(positionals);
  const label = words.join(" ");
  const progress = new Progress(values.json !== true);
  if (values.json !== true) say(`Testing ${visible(label)} against the ${door} protocol\n`);
  const started = Date.now();
  const tell = (finding: Finding): void => progress.tell(finding);
  const tried = await tryServer({ words, door, ...optionsOf(values), tell });
  const findings = [...tried, ...(await held(tried, door, values))];
  for (const finding of findings.slice(tried.length)) tell(finding);
  if (values.json === true) sayJson(jsonReport(label, door, findings));
  else say(`\n${summaryLine(findings, (Date.now() - started) / 1000)}`);
  return tally(findings).failed === 0 ? 0 : 1;
}

/** Records the messages of the server and compares them with a recording, as the options ask. */
async function held(
  findings: readonly Finding[],
  door: FrontendName,
  { record, compare }: ConformanceArguments["values"],
): Promise<Finding[]> {
  const recording = recordingOf(findings);
  if (record !== undefined) await writeFile(record, `${JSON.stringify(recording, undefined, 1)}\n`);
  if (compare === undefined) return [];
  const { latitude } = await SUITES[door]();
  const problems = differences(JSON.parse(await readFile(compare, "utf8")), recording, latitude);
  return [comparisonFinding(compare, problems)];
}

function optionsOf(values: ConformanceArguments["values"]): Omit<TryOptions, "words" | "door" | "tell"> {
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
  readonly #wanted: boolean;
  #about = "";

  constructor(wanted: boolean) {
    this.#wanted = wanted;
  }

  tell(finding: Finding): void {
    if (!this.#wanted) return;
    if (finding.about !== this.#about) say(`\n${finding.about}\n`);
    this.#about = finding.about;
    say(findingLines(finding));
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
