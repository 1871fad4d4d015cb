import { visible } from "../../visible.ts";
import { noArguments } from "../arguments.ts";
import { say, sayJson } from "../output.ts";
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
  else say(all.map(lines).join(""));
  const faults = all.filter((finding) => finding.state === "problem").length;
  if (values.json !== true) say(faults === 0 ? "\nAll is well.\n" : `\n${faults} to put right.\n`);
  return faults === 0 ? 0 : 1;
}

function lines({ state, name, detail, wayOut }: Finding): string {
  const way = wayOut === undefined ? "" : `${"".padEnd(18)}${visible(wayOut)}\n`;
  return `${MARKS[state]}${name.padEnd(14)}${visible(detail)}\n${way}`;
}
