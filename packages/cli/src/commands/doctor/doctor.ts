import { visible } from "@flint/view";
import { noArguments } from "../../command-line/arguments.ts";
import { say, sayJson } from "../../command-line/output.ts";
import { CHECKS } from "./checks.ts";
import type { Finding } from "./finding.ts";

interface DoctorArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

const MARKS = { ok: "ok  ", absent: "-   ", problem: "FIX " } as const;

/** `flint doctor`: exit code 1 if something has to be put right; what is only absent is no fault. */
export async function doctor({ values, positionals }: DoctorArguments): Promise<number> {
  noArguments("doctor", positionals);
  const findings = await Promise.all(CHECKS.map((check) => check(process.cwd())));
  const all = findings.flat();
  if (values.json === true) sayJson(all);
  else say(report(all));
  const faults = all.filter((finding) => finding.state === "problem").length;
  if (values.json !== true) say(faults === 0 ? "\nAll is well.\n" : `\n${faults} to put right.\n`);
  return faults === 0 ? 0 : 1;
}

/** The findings as they are shown: the details stand below each other, however long a name is. */
export function report(findings: readonly Finding[]): string {
  const width = Math.max(12, ...findings.map(({ name }) => name.length)) + 2;
  return findings.map((finding) => lines(finding, width)).join("");
}

function lines({ state, name, detail, wayOut }: Finding, width: number): string {
  const mark = MARKS[state];
  const way = wayOut === undefined ? "" : `${"".padEnd(mark.length + width)}${visible(wayOut)}\n`;
  return `${mark}${name.padEnd(width)}${visible(detail)}\n${way}`;
}
