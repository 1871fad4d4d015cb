import type { Rule } from "@flint/protocol";
import { escapeControls, ruleLine } from "@flint/view";
import { keyIn } from "../../../pages/key-name.ts";
import type { SessionContext } from "../../context.ts";

const NO_RULES = 'No rules. Answer an approval with "always" to add one.';
const NO_RULES_HERE = "No rules for this folder. /rules all shows those of other folders.";

/** Shows what is always allowed in this folder, or in all; choosing a rule removes it. */
export function listRules(session: SessionContext, which: string): void {
  session.run(async () => {
    const folder = session.settings?.cwd ?? session.machine.cwd;
    const { data, problems = [] } = await session.client.call(
      "rules/list",
      which === "all" ? {} : { cwd: folder },
    );
    for (const problem of problems) session.warn(problem);
    if (data.length === 0) return session.say(which === "all" ? NO_RULES : NO_RULES_HERE);
    session.openMenu({
      title: `Always allowed (${keyIn(session.look, "menuAccept")} removes a rule)`,
      items: data.map((rule) => ({
        label: ruleLine(rule),
        detail: escapeControls(`${rule.agent ?? "all agents"}  ${rule.project}`),
        choose: () => remove(session, rule, which),
      })),
    });
  });
}

function remove(session: SessionContext, rule: Rule, which: string): void {
  session.run(async () => {
    await session.client.call("rules/remove", { id: rule.id });
    session.warn(`No longer allowed without asking: ${ruleLine(rule)}`);
    listRules(session, which);
  });
}
