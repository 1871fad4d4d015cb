import type { SandboxPolicy } from "@flint/protocol";
import { needs, type Part, temporaryFolder } from "@flint/testkit";
import { describe, expect } from "vitest";
import { CommandSandbox, type CommandSandboxOptions } from "./command-sandbox.ts";

type Way = readonly [Part, Omit<CommandSandboxOptions, "environment">, SandboxPolicy];

const WAYS: Readonly<Record<string, Way>> = {
  bubblewrap: ["bwrap", { mechanisms: ["bubblewrap"] }, { type: "workspaceWrite" }],
  namespaces: ["namespaces", { mechanisms: ["namespaces"] }, { type: "workspaceWrite" }],
  "full access as root": ["root", {}, { type: "dangerFullAccess" }],
  "full access as anybody": ["sh", { containment: "group" }, { type: "dangerFullAccess" }],
};

describe("what a command makes", () => {
  for (const [way, [part, options, policy]] of Object.entries(WAYS)) {
    needs(part)(`has the rights that the user's own umask leaves, with ${way}`, async () => {
      const { path } = await temporaryFolder();
      const sandbox = new CommandSandbox({ environment: process.env, umask: 0o027, ...options });
      let printed = "";
      await sandbox.launch({
        command: ["sh", "-c", 'touch made; stat -c %a made; umask; echo "[$FLINT_UMASK]"'],
        cwd: path,
        workspace: path,
        policy,
        onOutput: (text) => {
          printed += text;
        },
      });
      expect(printed).toBe("640\n0027\n[]\n");
    });
  }
});
