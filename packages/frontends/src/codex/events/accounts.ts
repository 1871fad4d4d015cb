import type { EventData, Result } from "@flint/protocol";
import type { CodexAccount } from "@flint/protocol/codex";

type ReadAccount = Pick<Result<"account/read">, "account" | "agent" | "kind">;

/** The end of a login, as Codex tells it. */
export function loginEnded(data: EventData<"account/login/completed">) {
  const { loginId = null, success, error = null } = data;
  return { loginId, success, error, onboardingEntrypoint: null };
}

/** The account that is in use from now on. */
export function accountUpdated(data: EventData<"account/updated">) {
  const authMode = authModeOf(codexAccountOf(data));
  return { authMode, planType: data.account?.plan ?? null };
}

/** The name of an account in the message about how the user logged in. */
export function authModeOf(account: CodexAccount | null): string | null {
  const modes: Readonly<Record<string, string>> = { apiKey: "apikey", amazonBedrock: "bedrockApiKey" };
  return account === null ? null : (modes[account.type] ?? account.type);
}

/** Reports whether an account or agent is of Codex, under any name that the user has configured for it. */
export function isCodex({ agent, kind }: Pick<ReadAccount, "agent" | "kind">): boolean {
  return (kind ?? agent) === "codex";
}

/** The account of Codex itself; clients know no other kinds. */
export function codexAccountOf({ account, ...names }: ReadAccount): CodexAccount | null {
  if (!isCodex(names) || account === null) return null;
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
