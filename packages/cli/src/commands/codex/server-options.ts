import { resolve } from "node:path";
import { type ApprovalPolicy, type SandboxPolicy, SandboxShorthand, sandboxPolicyOf } from "@flint/protocol";
import { UsageError } from "../../command-line/arguments.ts";
import {
  type PlacedOptions,
  type ServerFlagValues,
  serverOptions,
} from "../../command-line/server-options.ts";
import type { ApprovalMode, CodexSettings } from "./settings.ts";

/** What a command line of Codex says about its server beside the settings. */
export interface CodexServerFlags
  extends Pick<ServerFlagValues, "cwd" | "model" | "agent" | "offline" | "trace" | "sandbox"> {
  /** Further folders that may be written. */
  readonly addedFolders?: readonly string[] | undefined;
}

/** How the words of Codex for when to ask are meant where somebody is there, and where nobody is. */
const ASKING = {
  attended: {
    never: "never",
    "on-failure": "unlessTrusted",
    "on-request": "unlessTrusted",
    untrusted: "unlessTrusted",
  },
  // What would only be asked for outside the sandbox stays inside; what would be asked for first is declined.
  unattended: {
    never: "never",
    "on-failure": "never",
    "on-request": "never",
    untrusted: "unlessTrusted",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<ApprovalMode, ApprovalPolicy>>>>;

/** The server for one run of which nobody watches: the folder that it works in has no say in what the agent may do. */
export async function unattendedServer(
  flags: CodexServerFlags,
  settings: CodexSettings,
): Promise<PlacedOptions> {
  const given = await codexServer(flags, settings);
  return {
    ...given,
    approvalPolicy: ASKING.unattended[settings.approval ?? "never"],
    sandboxPolicy: given.sandboxPolicy ?? READ_ONLY,
    chosen: [...(given.chosen ?? []), "approvalPolicy", "sandboxPolicy"],
  };
}

/** The server for a client that can be asked; what is not said is as Flint has it. */
export async function attendedServer(
  flags: CodexServerFlags,
  settings: CodexSettings,
): Promise<PlacedOptions> {
  const { approval } = settings;
  const given = await codexServer(flags, settings);
  return approval === undefined
    ? given
    : {
        ...given,
        approvalPolicy: ASKING.attended[approval],
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

/** What is said on the command line, else what the user configured for Flint. */
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
  throw new UsageError(`The sandbox is one of ${MODES.join(", ")}; not ${JSON.stringify(name)}.`);
}

function withoutSearch({ native }: PlacedOptions): Pick<PlacedOptions, "native"> {
  return native === undefined ? {} : { native: { ...native, web: { ...native.web, searchUrl: undefined } } };
}
