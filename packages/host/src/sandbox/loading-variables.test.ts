import { readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describeEachMechanism, leavesNoProcess } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { splitVariables } from "./mechanisms/launch.ts";
import { newFolder } from "./testing/fixture.ts";

describeEachMechanism("with %s", (mechanism, withMechanism) => {
  withMechanism(
    "variables that make a program load code have no effect on what runs outside of the sandbox",
    async () => {
      leavesNoProcess();
      const folder = newFolder();
      const [workspace, outside] = [join(folder, "workspace"), join(folder, "outside")];
      await Promise.all([mkdir(workspace), mkdir(outside)]);
      const sandbox = new CommandSandbox({
        ...{ environment: process.env, mechanisms: [mechanism], scopeFolder: join(folder, "scopes") },
      });
      onTestFinished(() => sandbox.closeScope("t"));
      const scope = { id: "t", privateGit: false, decide: async () => ({ allowed: false, reason: "no" }) };
      // The linker of each program that gets these variables writes a file there.
      const environment = { LD_DEBUG: "libs", LD_DEBUG_OUTPUT: join(outside, "linker"), KEY: "k" };
      for (const scoped of [{}, { scope }]) {
        const running = await sandbox.start({
          ...{ command: ["sh", "-c", 'echo "$LD_DEBUG $KEY"'], cwd: workspace, workspace, environment },
          ...{ policy: { type: "workspaceWrite" }, ...scoped },
        });
        running.stdin.end();
        expect(await text(running.stdout)).toContain("libs k\n");
        await running.exited;
        expect(readdirSync(outside)).toEqual([]);
      }
    },
  );
});

test("variables of shells, perl and the linker reach the command, and no wrapper", () => {
  const loading = { LD_PRELOAD: "a", PERL5OPT: "b", BASH_ENV: "c", "BASH_FUNC_cd%%": "d", GCONV_PATH: "e" };
  expect(splitVariables({ ...loading, PATH: "/bin", NODE_OPTIONS: "f", absent: undefined })).toEqual({
    outer: { PATH: "/bin", NODE_OPTIONS: "f" },
    prefix: ["/usr/bin/env", ...Object.entries(loading).map(([name, value]) => `${name}=${value}`)],
  });
});
