import { FlintError } from "@flint/protocol";
import type { FreeHandlers } from "./handler.ts";

/** What was allowed for always: seeing it, and taking it back. */
export const rulesHandlers: Pick<FreeHandlers, "rules/list" | "rules/remove"> = {
  async "rules/list"({ cwd }, { services }) {
    const { rules, realPath } = services.options;
    const wanted = cwd === undefined ? undefined : realPath(cwd);
    return {
      result: { data: rules.list().filter(({ project }) => wanted === undefined || project === wanted) },
    };
  },

  async "rules/remove"({ id }, { services }) {
    if (services.options.rules.remove(id)) return { result: {} };
    const message = `There is no rule ${id}; it may have been removed already. rules/list names all there are.`;
    throw new FlintError("invalidParams", message, { field: "id" });
  },
};
