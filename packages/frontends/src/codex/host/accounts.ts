import { agentOfModel, type Result } from "@flint/protocol";
import type { CodexAccount } from "@flint/protocol/codex";
import type { CoreCalls } from "../../shared/core-calls.ts";
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
  "account/login/start"() {
    throw codexError(
      "Flint has no account of its own. Log in to the agent in a terminal, with `codex login` or `claude`, and see `flint doctor`.",
    );
  },
  "account/login/cancel"(_params, { reply }) {
    reply({ status: "notFound" });
  },
  async "account/logout"(_params, { core, reply }) {
    const { account, provider } = await core.call("account/read", {});
    if (account !== null)
      throw codexError(
        `Flint has no account of its own; this one is ${provider}'s. Log out of the agent in a terminal, with \`codex logout\` or \`claude auth logout\`.`,
      );
    reply({});
  },
  "account/bedrock/checkGovCloudRequirements"(_params, { reply }) {
    reply({ isGovCloud: false, shouldWarn: false });
  },
  getAuthStatus(_params, { reply }) {
    reply({ authMethod: null, authToken: null, requiresOpenaiAuth: false });
  },
};

async function defaultAgent(core: CoreCalls): Promise<string> {
  return agentOfModel((await core.call("config/read", {})).model);
}

/** The account of Codex itself; clients know no other kinds. */
function codexAccountOf({ account, agent }: Result<"account/read">): CodexAccount | null {
  if (agent !== "codex" || account === null) return null;
  switch (account.type) {
    case "chatgpt":
      return {
        type: "chatgpt",
        email: account.label ?? null,
        planType: account.plan ?? "unknown",
        workspaceName: null,
      };
    case "amazonBedrock":
      return { type: "amazonBedrock", usesCodexManagedCredentials: false };
    case "apiKey":
    case "gcp":
      return { type: account.type };
    default:
      return null;
  }
}
