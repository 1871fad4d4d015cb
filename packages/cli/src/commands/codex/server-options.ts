import { resolve } from "node:path";
import { type ApprovalPolicy, type SandboxPolicy, SandboxShorthand, sandboxPolicyOf } from "@flint/protocol";
import { UsageError } from "../../command-line/command.ts";
import {
  type PlacedOptions,
  type ServerFlagValues,
  serverOptions,
} from "../../command-line/server-options.ts";
import type { ApprovalMode, CodexSettings } from "./settings.ts";

/** The options of a Codex command line, besides its settings. */
export interface CodexServerFlags
  extends Pick<ServerFlagValues, "cwd" | "model" | "agent" | "offline" | "trace" | "sandbox"> {
  /** Additional writable folders. */
  readonly addedFolders?: readonly string[] | undefined;
}

/** The meaning of Codex's approval modes in attended and unattended runs. */
const APPROVALS = {
  attended: {
    never: "never",
    "on-failure": "onRequest",
    "on-request": "onRequest",
    untrusted: "unlessTrusted",
  },
  // Modes that ask only outside the sandbox stay inside it; the one that asks first declines.
  unattended: {
    never: "never",
    "on-failure": "never",
    "on-request": "never",
    untrusted: "unlessTrusted",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<ApprovalMode, ApprovalPolicy>>>>;

/** The server of an unattended run: the project's configuration does not affect its permissions. */
export async function nonInteractiveServer(
  flags: CodexServerFlags,
  settings: CodexSettings,
): Promise<PlacedOptions> {
  const given = await codexServer(flags, settings);
  return {
    ...given,
    approvalPolicy: APPROVALS.unattended[settings.approval ?? "never"],
    sandboxPolicy: given.sandboxPolicy ?? READ_ONLY,
    chosen: [...(given.chosen ?? []), "approvalPolicy", "sandboxPolicy"],
  };
}

/** The server of a client that can be asked; Flint's defaults apply to what is not set. */
export async function interactiveServer(
  flags: CodexServerFlags,
  settings: CodexSettings,
): Promise<PlacedOptions> {
  const { approval } = settings;
  const given = await codexServer(flags, settings);
  return approval === undefined
    ? given
    : {
        ...given,
        approvalPolicy: APPROVALS.attended[approval],
        chosen: [...(given.chosen ?? []), "approvalPolicy"],
      };
}

async function codexServer(flags: CodexServerFlags, settings: CodexSettings): Promise<PlacedOptions> {
  const { cwd, agent, offline, trace } = flags;
  const model = flags.model ?? settings.model;
  const given = await serverOptions({ cwd, model, agent, offline, trace });
  const { mcpServers = [], withoutMcpServers = [], webSearch } = settings;
  const own = (given.mcpServers ?? []).filter(({ name }) => !withoutMcpServers.includes(name));
  const sandboxPolicy = sandboxOf(flags, settings, given);
  const isSaid = sandboxPolicy !== given.sandboxPolicy;
  return {
    ...given,
    ...(isSaid ? { sandboxPolicy, chosen: [...(given.chosen ?? []), "sandboxPolicy"] } : {}),
    mcpServers: [...own, ...mcpServers],
    ...(webSearch === undefined ? {} : withoutSearch(given)),
  };
}

const READ_ONLY: SandboxPolicy = { type: "readOnly" };

/** The sandbox of the command line, else of the user's configuration. */
function sandboxOf(
  flags: CodexServerFlags,
  settings: CodexSettings,
  given: PlacedOptions,
): SandboxPolicy | undefined {
  const name = flags.sandbox ?? settings.sandbox;
  const policy = name === undefined ? given.sandboxPolicy : sandboxNamed(name);
  if (policy?.type !== "workspaceWrite") return policy;
  const added = [...(settings.writableRoots ?? []), ...(flags.addedFolders ?? [])];
  const { networkAccess } = settings;
  if (added.length === 0 && networkAccess === undefined) return policy;
  return {
    ...policy,
    writableRoots: [...(policy.writableRoots ?? []), ...added.map((folder) => resolve(given.cwd, folder))],
    ...(networkAccess === undefined ? {} : { networkAccess }),
  };
}

const MODES = ["read-only", "workspace-write", "danger-full-access"];

function sandboxNamed(name: string): SandboxPolicy {
  const parsed = SandboxShorthand.safeParse(name);
  if (parsed.success && MODES.includes(name)) return sandboxPolicyOf(parsed.data);
  throw new UsageError(`The sandbox must be one of ${MODES.join(", ")}, not ${JSON.stringify(name)}.`);
}

function withoutSearch({ native }: PlacedOptions): Pick<PlacedOptions, "native"> {
  return native === undefined ? {} : { native: { ...native, web: { ...native.web, searchUrl: undefined } } };
}
