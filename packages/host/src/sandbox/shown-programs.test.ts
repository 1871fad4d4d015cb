import { chmod, mkdir, writeFile } from "node:fs/promises";
import { needs, type Part, temporaryFolder } from "@flint/testkit";
import { describe, expect } from "vitest";
import { CommandSandbox, type CommandSandboxOptions } from "./command-sandbox.ts";

const WAYS: Readonly<Record<string, readonly [Part, Omit<CommandSandboxOptions, "environment">]>> = {
  bubblewrap: ["bwrap", { mechanisms: ["bubblewrap"] }],
  namespaces: ["namespaces", { mechanisms: ["namespaces"] }],
};

describe("a program that lies in a folder for temporary files", () => {
  for (const [way, [part, options]] of Object.entries(WAYS)) {
    needs(part)(
      `is found in the sandbox with what it loads, and nothing else of there, with ${way}`,
      async () => {
        const [installed, other, work] = await Promise.all([
          temporaryFolder(),
          temporaryFolder(),
          temporaryFolder(),
        ]);
        await mkdir(installed.join("bin"));
        const program = installed.join("bin", "agent");
        await writeFile(installed.join("words"), "loaded");
        await writeFile(other.join("words"), "secret");
        await writeFile(
          program,
          `#!/bin/sh\ncat ${installed.join("words")}; cat ${other.join("words")} 2>&1; touch ${installed.join("new")}\n`,
        );
        await chmod(program, 0o755);
        const sandbox = new CommandSandbox({ environment: process.env, ...options });
        const running = await sandbox.start({
          command: [program],
          cwd: work.path,
          workspace: work.path,
          policy: { type: "workspaceWrite" },
          environment: {},
        });
        const printed: string[] = [];
        running.stdout.setEncoding("utf8").on("data", (text: string) => printed.push(text));
        running.stderr.setEncoding("utf8").on("data", (text: string) => printed.push(text));
        await running.exited;
        expect(printed.join("")).toContain("loaded");
        expect(printed.join("")).toContain("No such file");
        expect(printed.join("")).toContain("Read-only file system");
        expect(printed.join("")).not.toContain("secret");
      },
    );
  }
});
