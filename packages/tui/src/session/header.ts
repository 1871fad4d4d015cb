import type { ThreadSettings } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { type LineBlock, span } from "../draw/line.ts";
import { type Look, marksFor } from "../draw/look.ts";
import type { Machine } from "./context.ts";

/** The first lines of a session: the agent, its model, its permissions, the folder and its branch. */
export function headerBlock(
  settings: ThreadSettings,
  permissions: string,
  machine: Machine,
  look: Look,
): LineBlock {
  const { between } = marksFor(look.unicode);
  const [agent = "", ...rest] = settings.model.split("/");
  const model = rest.length === 0 || rest.join("/") === "default" ? "its default model" : rest.join("/");
  const branch = machine.branchOf(settings.cwd);
  const folder = `${shortFolder(settings.cwd, machine.home)}${branch === undefined ? "" : ` (${branch})`}`;
  const facts = [escapeControls(model), `permissions: ${permissions}`, escapeControls(folder)];
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

/** A folder as people write it: with `~` for their home. */
export function shortFolder(folder: string, home: string | undefined): string {
  if (home === undefined || home === "/") return folder;
  if (folder === home) return "~";
  return folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}
