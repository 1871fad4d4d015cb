import { agentOfModel } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import { authModeOf, codexAccountOf } from "../events/accounts.ts";
import { bucketsOf } from "../events/limits.ts";
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

/** Accounts and their limits are those of the agents; Flint has none of its own. */
export const accounts: Handlers<Accounts> = {
  async "account/read"(_params, { core, reply }) {
    const account = codexAccountOf(await core.call("account/read", {}));
    // With true, clients let the user do nothing before a login with OpenAI, with any agent.
    reply({ account, requiresOpenaiAuth: false, workspaceRouting: null });
  },
  async "account/rateLimits/read"(_params, { core, reply }) {
    const [{ data }, agent] = await Promise.all([core.call("account/limits/read", {}), defaultAgent(core)]);
    const buckets = bucketsOf(data);
    const main = buckets.find(({ limitId }) => limitId === agent) ?? buckets[0];
    // In the words of Codex without an account: no agent has reported a limit.
    if (main === undefined) throw codexError("codex account authentication required to read rate limits");
    reply({
      ordinaryUsageAllowed: null,
      rateLimits: main,
      rateLimitsByLimitId: Object.fromEntries(buckets.map((bucket) => [bucket.limitId, bucket])),
      rateLimitResetCredits: null,
      accountId: null,
      rateLimitUpsell: null,
    });
  },
  async "account/login/start"(params, { core, reply }) {
    await core.call("account/login/start", params, (started) => reply(started));
  },
  async "account/login/cancel"({ loginId }, { core, reply }) {
    reply(await core.call("account/login/cancel", { loginId }));
  },
  async "account/logout"(_params, { core, reply }) {
    await core.call("account/logout", {}, () => reply({}));
  },
  "account/bedrock/checkGovCloudRequirements"(_params, { reply }) {
    reply({ isGovCloud: false, shouldWarn: false });
  },
  async getAuthStatus(_params, { core, reply }) {
    const account = codexAccountOf(await core.call("account/read", {}));
    reply({ authMethod: authModeOf(account), authToken: null, requiresOpenaiAuth: false });
  },
};

async function defaultAgent(core: CoreCalls): Promise<string> {
  return agentOfModel((await core.call("config/read", {})).model);
}
