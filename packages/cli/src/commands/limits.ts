import type { UsageLimit } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { noArguments } from "../command-line/command.ts";
import { columns, say, sayJson } from "../command-line/output.ts";
import { withStoredData } from "./local-server.ts";

interface LimitsArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

const NOTHING_KNOWN =
  "Nothing is known yet about usage limits.\nAgents report them while they work, and only with an account that has some.\n";

/** `flint limits`: shows the usage limits of the agents' accounts, as last reported. */
export async function limits({ values, positionals }: LimitsArguments): Promise<number> {
  noArguments("limits", positionals);
  const { data } = await withStoredData((client) => client.call("account/limits/read", {}));
  if (values.json === true) return sayJson(data);
  return say(data.length === 0 ? NOTHING_KNOWN : limitTable(data, Date.now()));
}

/** Limits as a table, with the time left until each resets and the local time at which it does. */
export function limitTable(data: readonly UsageLimit[], now: number): string {
  const rows = data.map((limit) => [nameOf(limit), limit.window, usedOf(limit), resetOf(limit, now)]);
  const shown = rows.map((row) => row.map((cell) => escapeControls(cell)));
  return columns([["AGENT", "WINDOW", "USED", "RESETS"], ...shown]);
}

function nameOf({ agent, account, model }: UsageLimit): string {
  const details = [account, model].filter((part) => part !== undefined);
  return details.length === 0 ? agent : `${agent} (${details.join(", ")})`;
}

function usedOf({ usedPercent, status }: UsageLimit): string {
  const used = usedPercent === undefined ? "" : `${Math.round(usedPercent)} %`;
  if (status === "reached") return used === "" ? "reached" : `${used}, reached`;
  return used === "" ? (status === "warning" ? "nearly reached" : "not reached") : used;
}

function resetOf({ resetsAtMs, guessed, needsPerson }: UsageLimit, now: number): string {
  const doubt = guessed === true ? ", guessed from the error" : "";
  if (needsPerson === true) return "not by itself: check the account's credit or plan";
  if (resetsAtMs === undefined) return `unknown${doubt}`;
  return `in ${timeLeft(resetsAtMs - now)} (${localTime(resetsAtMs)}${doubt})`;
}

function timeLeft(milliseconds: number): string {
  const minutes = Math.max(1, Math.ceil(milliseconds / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

function localTime(at: number): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
