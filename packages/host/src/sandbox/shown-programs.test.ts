import { chmod, mkdir, writeFile } from "node:fs/promises";
import { describeEachMechanism, temporaryFolder } from "@flint/testkit";
import { expect } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";

describeEachMechanism("a program that lies in a folder for temporary files, confined by %s", (name, test) => {
  test("is found in the sandbox with what it loads, and nothing else of there", async () => {
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
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
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
  });
});
