import { PERMISSION_PROFILES } from "../permissions.ts";
import { refused } from "../refusals.ts";
import type { Handlers } from "../visit.ts";

type Lists =
  | "skills/list"
  | "hooks/list"
  | "plugin/list"
  | "collaborationMode/list"
  | "permissionProfile/list"
  | "experimentalFeature/list"
  | "mcpServerStatus/list";

/** What Codex keeps lists of. Of most of it Flint has none; an empty list is the truth. */
export const lists: Handlers<Lists> = {
  "skills/list"({ cwds }, _visit, reply) {
    reply({ data: (cwds ?? []).map((cwd) => ({ cwd, skills: [], errors: [] })) });
  },
  "hooks/list"({ cwds }, _visit, reply) {
    reply({ data: (cwds ?? []).map((cwd) => ({ cwd, hooks: [], warnings: [], errors: [] })) });
  },
  "plugin/list"(_params, _visit, reply) {
    reply({ marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] });
  },
  "collaborationMode/list"(_params, _visit, reply) {
    reply({ data: COLLABORATION_MODES });
  },
  "permissionProfile/list"({ cursor }, _visit, reply) {
    expectNoCursor(cursor);
    reply({ data: PERMISSION_PROFILES, nextCursor: null });
  },
  "experimentalFeature/list"({ cursor }, _visit, reply) {
    expectNoCursor(cursor);
    reply({ data: [], nextCursor: null });
  },
  async "mcpServerStatus/list"({ threadId, cursor }, visit, reply) {
    expectNoCursor(cursor);
    const { data } = await visit.client.core.call(
      "mcpServerStatus/list",
      threadId == null ? {} : { threadId },
    );
    const servers = data.map(({ name, status, error = null }) => ({
      ...{ name, ...NO_DETAILS, toolsError: error },
      runtimeStatus: RUNTIME_STATUS[status],
    }));
    reply({ data: servers, nextCursor: null });
  },
};

/** The first answer holds the whole list, so nobody can have got a cursor from here. */
function expectNoCursor(cursor: string | null | undefined): void {
  if (cursor != null) throw refused(`invalid cursor: ${cursor.slice(0, 200)}`);
}

const COLLABORATION_MODES = [
  { name: "Plan", mode: "plan", model: null, reasoning_effort: null },
  { name: "Default", mode: "default", model: null, reasoning_effort: null },
];

const RUNTIME_STATUS = { starting: "starting", ready: "connected", failed: "failed" } as const;

const NO_DETAILS = { tools: {}, resources: [], resourceTemplates: [], authStatus: "unsupported" };
