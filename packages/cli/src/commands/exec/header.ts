import type { ThreadSettings } from "@flint/protocol";
import {
  APPROVAL_NAMES,
  approvalPolicyNamed,
  DEFAULT_POLICIES,
  PERMISSION_MODES,
  permissionMode,
  SANDBOX_NAMES,
  sandboxPolicyNamed,
} from "@flint/server/config";
import { OFFLINE_MODEL } from "../../command-line/flags.ts";

type Permissions = Pick<
  ThreadSettings,
  "approvalPolicy" | "sandboxPolicy" | "network" | "git" | "acceptEdits"
>;

/** The first line of a run: its agent, its model and its permissions. Agents can be run on the offline model. */
export function headerOf(settings: ThreadSettings, between: string, isOffline = false): string {
  const [agent = "", ...rest] = settings.model.split("/");
  const model = rest.length === 0 ? undefined : rest.join("/");
  const isDefault = model === undefined || model === "default";
  const named = isOffline && isDefault ? "offline" : isDefault ? "its default model" : model;
  return [agent, named, `permissions: ${permissionsText(settings)}`].join(between);
}

/** Says that the model of a run cannot see its images; undefined if it may. Any agent can be run on the offline model. */
export function imageSupportWarning(
  { model }: Pick<ThreadSettings, "model">,
  isOffline = false,
): string | undefined {
  if (!isOffline && model !== OFFLINE_MODEL) return undefined;
  const way = isOffline ? "Leave out --offline to use another model." : "Choose another model with -m.";
  return `The offline model cannot see images. ${way}`;
}

/** The permission mode of settings; what makes them up, if they are not those of a mode. */
export function permissionsText(settings: Permissions): string {
  const mode = PERMISSION_MODES.find((name) => isSame(permissionMode(name), settings));
  if (mode !== undefined) return mode;
  const { approvalPolicy, sandboxPolicy, acceptEdits = false } = settings;
  const approval = APPROVAL_NAMES.find((name) => approvalPolicyNamed(name) === approvalPolicy);
  const sandbox = SANDBOX_NAMES.find((name) => sandboxPolicyNamed(name).type === sandboxPolicy.type);
  const edits = acceptEdits ? ", edits accepted" : "";
  return `approval ${approval ?? approvalPolicy}, sandbox ${sandbox ?? sandboxPolicy.type}${edits}`;
}

function isSame(mode: Partial<Permissions>, settings: Permissions): boolean {
  return JSON.stringify(completed(mode)) === JSON.stringify(completed(settings));
}

/** All permissions in a fixed order, with the defaults of what is not set. */
function completed(settings: Partial<Permissions>) {
  const { approvalPolicy, sandboxPolicy } = { ...DEFAULT_POLICIES, ...settings };
  const { network = { hosts: [] }, git = "ask", acceptEdits = false } = settings;
  return [approvalPolicy, sandboxPolicy, network, git, acceptEdits];
}
