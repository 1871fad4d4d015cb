import type { ApprovalPolicy, GitMode, NetworkPermission, SandboxPolicy } from "@flint/protocol";

/** Hosts from which package managers fetch packages. */
const PACKAGE_REGISTRIES = [
  ...["registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org"],
  ...["crates.io", "static.crates.io", "index.crates.io", "proxy.golang.org", "sum.golang.org"],
  ...["rubygems.org", "repo.maven.apache.org"],
];

/** The settings that make up a permission mode. */
export interface ModeSettings {
  readonly approvalPolicy?: ApprovalPolicy;
  readonly sandboxPolicy?: SandboxPolicy;
  readonly network?: NetworkPermission;
  readonly git?: GitMode;
  readonly acceptEdits?: boolean;
}

/** The permission modes by name, with what each does. The one table behind `--permissions` and `permissions`. */
const MODES = {
  ask: { doc: "ask before anything that is not known to be read-only (default)", settings: {} },
  "accept-edits": {
    doc: "edit files in the workspace without asking",
    settings: { acceptEdits: true },
  },
  plan: { doc: "read files, change nothing", settings: { sandboxPolicy: { type: "readOnly" } } },
  auto: {
    doc: "accept edits, add commits to your repository, and allow package registries",
    settings: { acceptEdits: true, git: "auto", network: { hosts: PACKAGE_REGISTRIES } },
  },
  "full-access": {
    doc: "no approvals and no sandbox, once you confirm it",
    settings: { approvalPolicy: "never", sandboxPolicy: { type: "dangerFullAccess" } },
  },
} as const satisfies Record<string, { readonly doc: string; readonly settings: ModeSettings }>;

/** The name of a permission mode. */
export type PermissionMode = keyof typeof MODES;

// Object.keys widens the keys of the table to strings.
export const PERMISSION_MODES = Object.keys(MODES) as readonly PermissionMode[];

/** The settings of a permission mode. */
export function permissionMode(name: PermissionMode): ModeSettings {
  return MODES[name].settings;
}

/** Describes a permission mode in one sentence without a full stop. */
export function permissionModeDoc(name: PermissionMode): string {
  return MODES[name].doc;
}

/** Describes all permission modes in one line. */
export const PERMISSION_MODES_DOC = PERMISSION_MODES.map((name) => `${name}: ${MODES[name].doc}`).join("; ");
