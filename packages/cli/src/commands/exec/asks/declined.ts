import type { DeclinedAction } from "@flint/protocol";
import { oneLine } from "@flint/view";

/** What was declined without the user at the terminal: by a rule, a setting, a time limit, or because no one was there. */
export function declinedWithoutPrompt(
  declined: readonly DeclinedAction[],
  isUnattended: boolean,
): readonly DeclinedAction[] {
  return declined.filter(({ by }) => isUnattended || by !== "client");
}

/** The list of what was declined, for stderr; empty if nothing was. The same thing is listed once. */
export function declinedReport(declined: readonly DeclinedAction[]): string {
  if (declined.length === 0) return "";
  const lines = new Set(declined.map(({ what, reason }) => `  ${oneLine(what)}: ${oneLine(reason)}`));
  const count = lines.size === 1 ? "An action was declined" : `${lines.size} actions were declined`;
  return `flint: ${count}:\n${[...lines].join("\n")}\n`;
}
