import { mkdirSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { LocalMachine } from "./machine.ts";

test("programs of the project are not among those that an editor starts, nor is the editor one", async () => {
  const folder = await temporaryFolder();
  for (const name of ["project/.git", "project/bin", "project/sub", "other/bin"])
    mkdirSync(folder.join(name), { recursive: true });
  writeFileSync(folder.join("project/bin/vi"), "", { mode: 0o755 });
  vi.stubEnv("PATH", `${folder.join("project/bin")}:${folder.join("other/bin")}:/bin`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const machine = new LocalMachine(folder.join("project/sub"), {});
  expect(await machine.searchPath(folder.join("project/sub"))).toBe(`${folder.join("other/bin")}:/bin`);
  expect(await machine.searchPath(folder.join("other"))).toBe("/bin");
});
