import { inheritedEnvironment } from "@flint/server/environment";
import { lineOf, type RenderOptions, readLook, span, styled, textOf, wrapLine } from "@flint/tui/draw";
import { count, escapeControls } from "@flint/view";
import { noArguments } from "../../command-line/command.ts";
import { print, printJson } from "../../command-line/output.ts";
import { CHECKS } from "./checks.ts";
import type { Check, Finding } from "./finding.ts";

interface DoctorArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

const MARKS = { ok: "ok  ", absent: "-   ", problem: "FIX " } as const;

/** `flint doctor`. The exit code is 1 if there is a problem; something optional that is missing is not one. */
export async function doctor({ values, positionals }: DoctorArguments): Promise<number> {
  noArguments("doctor", positionals);
  const clear = showProgress(process.stderr);
  const findings = await Promise.all(CHECKS.map((check) => bounded(check, process.cwd())));
  clear();
  const all = findings.flat();
  if (values.json === true) printJson(all);
  else
    print(report(all, process.stdout.isTTY ? readLook(inheritedEnvironment(), process.stdout) : undefined));
  const problems = all.filter(({ state }) => state === "problem").length;
  const missing = all.filter(({ state }) => state === "absent").length;
  if (values.json !== true) print(`\n${summary(problems, missing)}\n`);
  return problems === 0 ? 0 : 1;
}

/** The report of `flint doctor` as plain text. */
export async function doctorReport(): Promise<string> {
  const findings = await Promise.all(CHECKS.map((check) => bounded(check, process.cwd())));
  return report(findings.flat());
}

/** Says that something is happening, on a terminal. Returns a function that removes it. */
function showProgress({ isTTY }: NodeJS.WriteStream): () => void {
  if (!isTTY) return () => undefined;
  const text = "Checking agents, models and the sandbox ...";
  process.stderr.write(text);
  return () => void process.stderr.write(`\r${" ".repeat(text.length)}\r`);
}

/** The timeout of one check. */
const CHECK_MS = 15_000;

/** A check that takes too long is reported as such. */
export async function bounded(check: Check, cwd: string, limitMs = CHECK_MS): Promise<readonly Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Finding[]>((resolve) => {
    const detail = `${check.name || "a tool"} did not answer within ${limitMs / 1000} s`;
    timer = setTimeout(() => resolve([{ name: "check", state: "problem", detail }]), limitMs);
  });
  try {
    return await Promise.race([check(cwd), late]);
  } finally {
    clearTimeout(timer);
  }
}

function summary(problems: number, missing: number): string {
  const first = problems === 0 ? "No problems found" : `${count(problems, "problem")} found (FIX)`;
  return missing === 0 ? `${first}.` : `${first}; ${count(missing, "optional item")} missing (-).`;
}

/** The findings as aligned rows, on a terminal with coloured marks and wrapped within their column. */
export function report(
  findings: readonly Finding[],
  look?: Pick<RenderOptions, "colour" | "columns">,
): string {
  const width = Math.max(12, ...findings.map(({ name }) => name.length)) + 2;
  return findings.map((finding) => lines(finding, width, look)).join("");
}

const STYLES = { ok: "green", absent: "dim", problem: "red" } as const;
/** In a narrower column, the terminal wraps by itself. */
const LEAST_COLUMN = 30;

function lines(
  { state, name, detail, fix }: Finding,
  width: number,
  look: Pick<RenderOptions, "colour" | "columns"> | undefined,
): string {
  const mark = MARKS[state];
  const shown = styled([span(mark, STYLES[state])], look?.colour === true);
  const margin = "".padEnd(mark.length + width);
  const columns = look === undefined ? 0 : look.columns - margin.length - 1;
  const inColumn = (text: string) => {
    const rows = escapeControls(text).split("\n");
    return columns < LEAST_COLUMN ? rows : rows.flatMap((row) => wrapped(row, columns));
  };
  const [first = "", ...rest] = [...inColumn(detail), ...(fix === undefined ? [] : inColumn(fix))];
  return [`${shown}${name.padEnd(width)}${first}`, ...rest.map((row) => `${margin}${row}`), ""].join("\n");
}

function wrapped(text: string, columns: number): string[] {
  return wrapLine(lineOf(text), columns).map((line) => textOf(line).trimEnd());
}
