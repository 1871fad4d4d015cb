import type { Handlers } from "../requests/handler.ts";
import { codexError } from "../wire/errors.ts";

type Accounts =
  | "account/read"
  | "account/rateLimits/read"
  | "account/login/start"
  | "account/login/cancel"
  | "account/logout"
  | "account/bedrock/checkGovCloudRequirements"
  | "getAuthStatus";

/** Agents have their own logins; Flint needs none. */
export const account: Handlers<Accounts> = {
  "account/read"(_params, { reply }) {
    reply({ account: null, requiresOpenaiAuth: false, workspaceRouting: null });
  },
  "account/rateLimits/read"() {
    throw codexError("codex account authentication required to read rate limits");
  },
  "account/login/start"() {
    throw codexError(
      "Flint has no account of its own. Log in to the agent in a terminal, with `codex login` or `claude`, and see `flint doctor`.",
    );
  },
  "account/login/cancel"(_params, { reply }) {
    reply({ status: "notFound" });
  },
  "account/logout"(_params, { reply }) {
    reply({});
  },
  "account/bedrock/checkGovCloudRequirements"(_params, { reply }) {
    reply({ isGovCloud: false, shouldWarn: false });
  },
  getAuthStatus(_params, { reply }) {
    reply({ authMethod: null, authToken: null, requiresOpenaiAuth: false });
  },
};
