import { count, escapeControls } from "@flint/view";
import { noArguments } from "../../command-line/command.ts";
import { say, sayJson } from "../../command-line/output.ts";
import { CHECKS } from "./checks.ts";
import type { Finding } from "./finding.ts";

interface DoctorArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

const MARKS = { ok: "ok  ", absent: "-   ", problem: "FIX " } as const;

/** `flint doctor`. The exit code is 1 if there is a problem; something optional that is missing is not one. */
export async function doctor({ values, positionals }: DoctorArguments): Promise<number> {
  noArguments("doctor", positionals);
  const findings = await Promise.all(CHECKS.map((check) => check(process.cwd())));
  const all = findings.flat();
  if (values.json === true) sayJson(all);
  else say(report(all));
  const problems = all.filter(({ state }) => state === "problem").length;
  const missing = all.filter(({ state }) => state === "absent").length;
  if (values.json !== true) say(`\n${summary(problems, missing)}\n`);
  return problems === 0 ? 0 : 1;
}

function summary(problems: number, missing: number): string {
  const first = problems === 0 ? "No problems found" : `${count(problems, "problem")} found (FIX)`;
  return missing === 0 ? `${first}.` : `${first}; ${count(missing, "optional item")} missing (-).`;
}

/** The findings as aligned rows. */
export function report(findings: readonly Finding[]): string {
  const width = Math.max(12, ...findings.map(({ name }) => name.length)) + 2;
  return findings.map((finding) => lines(finding, width)).join("");
}

function lines({ state, name, detail, fix }: Finding, width: number): string {
  const mark = MARKS[state];
  const fixLine = fix === undefined ? "" : `${"".padEnd(mark.length + width)}${escapeControls(fix)}\n`;
  return `${mark}${name.padEnd(width)}${escapeControls(detail)}\n${fixLine}`;
}
