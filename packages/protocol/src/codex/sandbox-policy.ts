import type { SandboxPolicy } from "../approval/policy.ts";
import type { CodexSandboxPolicy } from "./values.ts";

/** A sandbox policy of Codex for one of Flint. */
export function codexSandboxPolicy(policy: SandboxPolicy): CodexSandboxPolicy {
  switch (policy.type) {
    case "dangerFullAccess":
      return { type: "dangerFullAccess" };
    case "readOnly":
      return { type: "readOnly", networkAccess: false };
    case "externalSandbox":
      return { type: "externalSandbox", networkAccess: policy.networkAccess ?? "restricted" };
    case "workspaceWrite":
      return {
        type: "workspaceWrite",
        writableRoots: policy.writableRoots ?? [],
        networkAccess: policy.networkAccess ?? false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
  }
}
