import { mkdir, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { serverProcess } from "./server-process.ts";

test("Python imports no files of the workspace in place of its own, unless its module is one of them", async () => {
  const { path: cwd, join } = await temporaryFolder();
  await writeFile(join("server.py"), "");
  await mkdir(join("tools"));
  const variablesOf = (command: string, args: readonly string[]) =>
    serverProcess(
      { type: "stdio", name: "docs", command, args, env: { KEY: "k" } },
      { cwd, policy: { type: "workspaceWrite" } },
    ).environment;
  const safe = { KEY: "k", PYTHONSAFEPATH: "1" };
  expect(variablesOf("python3", ["-m", "mcp_server"])).toEqual(safe);
  expect(variablesOf("/usr/bin/python3.12", ["-u", "-c", "import mcp_server"])).toEqual(safe);
  for (const module of ["server", "tools.server"])
    expect(variablesOf("python3", ["-m", module])).toEqual({ KEY: "k" });
  expect(variablesOf("python3", ["server.py"])).toEqual({ KEY: "k" });
  expect(variablesOf("node", ["-m", "mcp_server"])).toEqual({ KEY: "k" });
});
