import type { ThreadSettings } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { type LineBlock, span } from "../../draw/line.ts";
import { marksFor, type RenderOptions } from "../../draw/render-options.ts";
import { folderAndBranch } from "../../first-frame/starting-rows.ts";
import type { Machine } from "../machine.ts";

/** The first lines of a session: the agent, its model, its permissions, the folder and its branch. */
export function headerBlock(
  settings: ThreadSettings,
  permissions: string,
  machine: Pick<Machine, "home" | "branchOf">,
  look: RenderOptions,
): LineBlock {
  const { between } = marksFor(look.unicode);
  const [agent = "", ...rest] = settings.model.split("/");
  const model = rest.length === 0 || rest.join("/") === "default" ? "its default model" : rest.join("/");
  const folder = folderAndBranch(settings.cwd, machine.home, machine.branchOf(settings.cwd));
  const facts = [escapeControls(model), `permissions: ${permissions}`, folder];
  return {
    head: [
      [
        span("Flint ", "bold"),
        span(escapeControls(agent), "cyan"),
        span(between + facts.join(between), "dim"),
      ],
    ],
  };
}
