import type { PlanEntry } from "@flint/protocol";
import { defineTool } from "./define-tool.ts";
import { choice, list, object, optional, text } from "./input.ts";
import { done, type Tool } from "./tool.ts";

/** Shows a plan: the id is for its item, the entries are the whole plan as it is now. */
export type ShowPlan = (itemId: string, explanation: string, entries: readonly PlanEntry[]) => void;

const STEP = object({
  step: text("What is done, in a few words.", { maxLength: 1000 }),
  status: choice("How it stands.", ["pending", "inProgress", "completed", "failed"]),
});

/** Shows the user what the agent is going to do and how far it is. */
export function updatePlanTool(show: ShowPlan): Tool {
  return defineTool({
    name: "update_plan",
    description:
      "Shows the user your plan for work of several steps. Give the whole plan each time, as it is now.",
    readOnly: false,
    input: {
      explanation: optional(
        text("Why the plan is so, or what changed.", { maxLength: 5000, mayBeEmpty: true }),
      ),
      plan: list("All steps in order.", STEP, 100),
    },
    async run({ explanation, plan }, { itemId }) {
      show(itemId, explanation ?? "", plan);
      return done("The plan is shown.");
    },
  });
}
