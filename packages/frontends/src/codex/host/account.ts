import { refused } from "../refusals.ts";
import type { Handlers } from "../visit.ts";

type Accounts =
  | "account/read"
  | "account/rateLimits/read"
  | "account/login/start"
  | "account/login/cancel"
  | "account/logout"
  | "account/bedrock/checkGovCloudRequirements"
  | "getAuthStatus";

/** Agents log in by themselves; nobody has to, to talk to Flint. */
export const account: Handlers<Accounts> = {
  "account/read"(_params, _visit, reply) {
    reply({ account: null, requiresOpenaiAuth: false, workspaceRouting: null });
  },
  "account/rateLimits/read"() {
    throw refused("codex account authentication required to read rate limits");
  },
  "account/login/start"() {
    throw refused(
      "Flint has no account of its own. Log in to the agent in a terminal, with `codex login` or `claude`, and see `flint doctor`.",
    );
  },
  "account/login/cancel"(_params, _visit, reply) {
    reply({ status: "notFound" });
  },
  "account/logout"(_params, _visit, reply) {
    reply({});
  },
  "account/bedrock/checkGovCloudRequirements"(_params, _visit, reply) {
    reply({ isGovCloud: false, shouldWarn: false });
  },
  getAuthStatus(_params, _visit, reply) {
    reply({ authMethod: null, authToken: null, requiresOpenaiAuth: false });
  },
};
