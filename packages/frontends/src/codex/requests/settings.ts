import { type ApprovalPolicy, FlintError, type Params, ReasoningSummary } from "@flint/protocol";
import type { CodexApprovalPolicy, CodexClientParams } from "@flint/protocol/codex";
import type { CoreCalls } from "../../shared/core-calls.ts";
import { isPlanning, PLAN_SELECTORS, REASONING_EFFORT } from "../events/threads.ts";
import { approvalPolicyFrom, requestedSandbox, sandboxPolicyOf } from "../wire/policies.ts";
import { withoutNullish } from "../wire/values.ts";
import type { CodexClient } from "./handler.ts";

/** The settings that a request changes. */
type Overrides = Omit<Params<"thread/settings/update">, "threadId">;

type OpeningParams = Pick<
  CodexClientParams<"thread/resume">,
  | "model"
  | "cwd"
  | "approvalPolicy"
  | "sandbox"
  | "permissions"
  | "config"
  | "developerInstructions"
  | "personality"
>;

/** The settings that the request to open a thread changes. Of Codex's configuration, Flint has effort and summary. */
export async function openingOverrides(params: OpeningParams, core: CoreCalls, threadId?: string) {
  const { model, cwd, sandbox, permissions, developerInstructions, approvalPolicy, personality } = params;
  const effort: unknown = params.config?.model_reasoning_effort;
  const summary = ReasoningSummary.safeParse(params.config?.model_reasoning_summary);
  return {
    ...withoutNullish({ model, cwd, developerInstructions, personality }),
    ...(summary.success ? { summary: summary.data } : {}),
    ...requestedSandbox(permissions, "sandbox", sandbox),
    ...(await requestedApproval(approvalPolicy, core, threadId)),
    ...(typeof effort === "string" ? { config: { [REASONING_EFFORT]: effort } } : {}),
  } satisfies Overrides;
}

/** The params of `turn/start` and `thread/settings/update` that change settings. */
export const SETTINGS_PARAMS = [
  "cwd",
  "approvalPolicy",
  "sandboxPolicy",
  "permissions",
  "model",
  "effort",
  "summary",
  "personality",
  "collaborationMode",
] as const;

/** Those params, for a thread. */
export type SettingsParams = Pick<
  CodexClientParams<"turn/start">,
  "threadId" | (typeof SETTINGS_PARAMS)[number]
>;

/** The settings that the request to start a turn, or to update them, changes. */
export async function settingsOverrides(
  params: SettingsParams,
  core: CoreCalls,
  client: CodexClient,
): Promise<Overrides> {
  const { threadId, cwd, model, approvalPolicy, sandboxPolicy, permissions, effort } = params;
  const { summary, personality } = params;
  const sandbox = sandboxPolicy == null ? undefined : sandboxPolicyOf(sandboxPolicy);
  const requested = requestedSandbox(permissions, "sandboxPolicy", sandbox);
  const approval = await requestedApproval(approvalPolicy, core, threadId);
  client.policies.note(threadId, params);
  const config = {
    ...(effort == null ? {} : { [REASONING_EFFORT]: effort }),
    ...(await requestedMode(params, core, client)),
  };
  return {
    ...withoutNullish({ cwd, model, summary, personality }),
    ...approval,
    ...requested,
    ...(Object.keys(config).length === 0 ? {} : { config }),
  };
}

/** The approval policy that a request chooses for a thread, or for a new one if none is named. */
async function requestedApproval(
  requested: CodexApprovalPolicy | null | undefined,
  core: CoreCalls,
  threadId?: string,
): Promise<{ readonly approvalPolicy?: ApprovalPolicy }> {
  if (requested == null) return {};
  const { approvalPolicy } = await core.call("config/read", threadId === undefined ? {} : { threadId });
  return { approvalPolicy: approvalPolicyFrom(requested, approvalPolicy) };
}

/** The selector of the agent for a collaboration mode; nothing if the thread is in that mode already. */
async function requestedMode(
  { threadId, collaborationMode }: SettingsParams,
  core: CoreCalls,
  client: CodexClient,
): Promise<Record<string, string>> {
  const { settings } = client.threads.get(threadId);
  if (collaborationMode == null || settings === undefined) return {};
  const { mode } = collaborationMode;
  if (isPlanning(settings) === (mode === "plan")) return {};
  const { options } = await core.call("config/list", { threadId });
  const selectors: readonly string[] = PLAN_SELECTORS;
  const found = options.find(
    (option) => selectors.includes(option.id) && option.options.some(({ id }) => id === mode),
  );
  return found === undefined ? {} : { [found.id]: mode };
}

/**
 * Calls the core with settings. Clients send the effort that was chosen last with every model; one that this model does
 * not have is left out instead of rejecting the others.
 */
export async function withSupportedEffort<
  Settings extends { readonly config?: Readonly<Record<string, string>> | undefined },
>(settings: Settings, call: (settings: Settings) => Promise<unknown>): Promise<void> {
  try {
    await call(settings);
  } catch (error) {
    // Expected: `invalidParams` that names the selector.
    const isAboutEffort = error instanceof FlintError && EFFORT_FIELDS.has(error.data.field);
    if (!isAboutEffort || settings.config?.[REASONING_EFFORT] === undefined) throw error;
    const { [REASONING_EFFORT]: _effort, ...others } = settings.config;
    await call({ ...settings, config: others });
  }
}

const EFFORT_FIELDS: ReadonlySet<unknown> = new Set([REASONING_EFFORT, "config"]);
