import type { Handlers } from "../requests/handler.ts";
import { codexError } from "../wire/errors.ts";
import { PERMISSION_PROFILES } from "../wire/policies.ts";

type Lists =
  | "skills/list"
  | "hooks/list"
  | "plugin/list"
  | "collaborationMode/list"
  | "permissionProfile/list"
  | "experimentalFeature/list"
  | "mcpServerStatus/list";

/** What Codex has lists of. Flint has none of most of it, so the lists are empty. */
export const lists: Handlers<Lists> = {
  "skills/list"({ cwds }, { reply }) {
    reply({ data: (cwds ?? []).map((cwd) => ({ cwd, skills: [], errors: [] })) });
  },
  "hooks/list"({ cwds }, { reply }) {
    reply({ data: (cwds ?? []).map((cwd) => ({ cwd, hooks: [], warnings: [], errors: [] })) });
  },
  "plugin/list"(_params, { reply }) {
    reply({ marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] });
  },
  "collaborationMode/list"(_params, { reply }) {
    reply({ data: COLLABORATION_MODES });
  },
  "permissionProfile/list"({ cursor }, { reply }) {
    expectNoCursor(cursor);
    reply({ data: PERMISSION_PROFILES, nextCursor: null });
  },
  "experimentalFeature/list"({ cursor }, { reply }) {
    expectNoCursor(cursor);
    reply({ data: [], nextCursor: null });
  },
  async "mcpServerStatus/list"({ threadId, cursor }, { core, reply }) {
    expectNoCursor(cursor);
    const { data } = await core.call("mcpServerStatus/list", threadId == null ? {} : { threadId });
    const servers = data.map(({ name, status, error = null }) => ({
      ...{ name, ...NO_DETAILS, toolsError: error },
      runtimeStatus: RUNTIME_STATUS[status],
    }));
    reply({ data: servers, nextCursor: null });
  },
};

/** The first answer has the whole list, so no cursor can have come from here. */
function expectNoCursor(cursor: string | null | undefined): void {
  if (cursor != null) throw codexError(`invalid cursor: ${cursor.slice(0, 200)}`);
}

const COLLABORATION_MODES = [
  { name: "Plan", mode: "plan", model: null, reasoning_effort: null },
  { name: "Default", mode: "default", model: null, reasoning_effort: null },
];

const RUNTIME_STATUS = { starting: "starting", ready: "connected", failed: "failed" } as const;

const NO_DETAILS = { tools: {}, resources: [], resourceTemplates: [], authStatus: "unsupported" };
