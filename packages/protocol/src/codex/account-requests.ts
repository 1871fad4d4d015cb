import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { request } from "../wire/vocabulary.ts";
import { CodexAccount, CodexRateLimits } from "./accounts.ts";

const nothing = () => foreignObject({});

/** The ways to log in to Codex, in its own order. */
const LOGINS = [
  "apiKey",
  "chatgpt",
  "chatgptDeviceCode",
  "chatgptAuthTokens",
  "amazonBedrock",
  "amazonBedrockAccessKeys",
] as const;

/** The account of Codex: who is logged in, its limits, and how to log in and out. */
export const CODEX_ACCOUNT_REQUESTS = {
  "account/read": request(
    "Reads the account.",
    () => foreignObject({}),
    () =>
      foreignObject({
        account: nullish(CodexAccount),
        requiresOpenaiAuth: z.boolean(),
        workspaceRouting: z.optional(z.unknown()),
      }),
  ),
  "account/rateLimits/read": request("Reads the usage limits of the account.", nothing, () =>
    foreignObject({
      rateLimits: CodexRateLimits,
      rateLimitsByLimitId: nullish(z.record(z.string(), CodexRateLimits)),
      ordinaryUsageAllowed: nullish(z.boolean()),
      rateLimitResetCredits: z.optional(z.unknown()),
      accountId: nullish(z.string()),
      rateLimitUpsell: z.optional(z.unknown()),
    }),
  ),
  "account/login/start": request(
    "Starts a login.",
    () => foreignObject({ type: z.enum(LOGINS) }),
    () =>
      foreignObject({
        type: z.string(),
        loginId: nullish(z.string()),
        authUrl: nullish(z.string()),
        verificationUrl: nullish(z.string()),
        userCode: nullish(z.string()),
      }),
  ),
  "account/login/cancel": request(
    "Cancels a login.",
    () => foreignObject({ loginId: z.string() }),
    () => foreignObject({ status: z.enum(["canceled", "notFound"]) }),
  ),
  "account/logout": request("Logs out.", nothing, nothing),
} as const;
