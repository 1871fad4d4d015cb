import { join } from "node:path";
import {
  type ApprovalPolicy,
  type Budget,
  type ConfigOption,
  changedBudget,
  type SandboxPolicy,
  type ThreadSettings,
} from "@flint/protocol";
import { DEFAULT_POLICIES } from "@flint/server/config";
import { stateFolder } from "@flint/server/environment";
import { LazyWorkspaces } from "@flint/server/serve";
import type { PlacedOptions } from "../../command-line/server-options.ts";
import type { TurnLimits } from "./options.ts";

/** What an agent may do in a turn, and how much of it. */
export interface Allowance {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxPolicy: SandboxPolicy;
  readonly budget?: Budget | undefined;
}

/**
 * What a new thread in a folder would be allowed: what was said on the command line, else what the trusted files of
 * the folder say, else the user's own configuration.
 */
export async function allowanceIn(cwd: string, server: PlacedOptions): Promise<Allowance> {
  const userRoot = server.userRoot ?? server.root ?? stateFolder();
  const workspaces = new LazyWorkspaces(async () => {
    const { WorkspaceFiles } = await import("@flint/server/workspace");
    const { TrustFile } = await import("@flint/server/workspace");
    return new WorkspaceFiles(new TrustFile(join(userRoot, "trust.json")));
  }, new Set(server.chosen));
  const here = await workspaces.configOf(cwd);
  return {
    approvalPolicy: here.approvalPolicy ?? server.approvalPolicy ?? DEFAULT_POLICIES.approvalPolicy,
    sandboxPolicy: here.sandboxPolicy ?? server.sandboxPolicy ?? DEFAULT_POLICIES.sandboxPolicy,
    budget: here.budget === undefined ? server.budget : changedBudget(server.budget, here.budget),
  };
}

/** The budget to send with a turn, so that no limit of an earlier run stays and none that is configured is lost. */
export function turnBudget(
  configured: Budget | undefined,
  limits: TurnLimits | undefined,
  current: Budget | undefined,
): Budget {
  const thread = configured?.thread ?? {};
  return {
    turn: { ...configured?.turn, ...limits },
    // Sent only when it differs: a budget that is sent again forgets how far the user has let the thread go on.
    ...(isSame(thread, current?.thread ?? {}) ? {} : { thread }),
  };
}

function isSame(one: object, other: object): boolean {
  const sorted = (amounts: object) => JSON.stringify(Object.entries(amounts).sort());
  return sorted(one) === sorted(other);
}

/** What somebody should know before an agent begins that may do more than usual; undefined if it may not. */
export function boldness({
  approvalPolicy,
  sandboxPolicy,
}: Pick<ThreadSettings, "approvalPolicy" | "sandboxPolicy">): string | undefined {
  const unasked = approvalPolicy === "never";
  const unconfined = sandboxPolicy.type === "dangerFullAccess";
  if (unasked && unconfined)
    return "Nothing is asked for and nothing is confined (approval never, sandbox danger-full-access).";
  if (unasked) return "Nothing is asked for (approval never).";
  return unconfined ? "Commands are not confined (sandbox danger-full-access)." : undefined;
}

/** How hard an agent thinks is a selector of its own; agents of Flint and of ACP name it in one of these ways. */
const ID = "reasoning_effort";
const CATEGORY = "thought_level";

/** The value of a selector that an effort means; undefined where the agent has no such selector or no such value. */
export function effortValue(
  options: readonly ConfigOption[],
  effort: string,
): Readonly<Record<string, string>> | undefined {
  const selector = options.find(({ id, category }) => id === ID || category === CATEGORY);
  const offered = selector?.options.some(({ id }) => id === effort);
  return selector === undefined || offered !== true ? undefined : { [selector.id]: effort };
}
