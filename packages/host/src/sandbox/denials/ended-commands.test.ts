import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { agentFolder, needs } from "@flint/testkit";
import { expect } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";

const test = needs("bwrap");

test("says what it kept a command from that an agent ran itself, by facts and not by the output alone", async () => {
  const { path: folder } = await agentFolder();
  const [cwd, outside] = [join(folder, "work"), join(folder, "outside")];
  await Promise.all([mkdir(cwd), mkdir(outside)]);
  const sandbox = new CommandSandbox({ environment: process.env });
  const ended = { exitCode: 1, cwd, workspace: cwd, refused: [] };
  const output = (path: string) => `touch: cannot touch '${path}': Read-only file system\n`;
  const policy = { type: "workspaceWrite" } as const;
  expect(await sandbox.denials({ ...ended, policy, output: output("../outside/x") })).toEqual([
    {
      needs: { write: [outside] },
      evidence: `The sandbox does not let commands write ${join(outside, "x")}.`,
    },
  ]);
  const refused = [{ host: "registry.example", port: 443, reason: "it was declined" }];
  expect(await sandbox.denials({ ...ended, policy, output: "", exitCode: 0, refused })).toEqual([
    { evidence: "Flint refused the connection to registry.example:443: it was declined." },
  ]);
  const printed = { ...ended, policy, exitCode: 0, output: output("../outside/x") };
  expect(await sandbox.denials(printed)).toEqual([]);
  const free = { type: "dangerFullAccess" } as const;
  expect(await sandbox.denials({ ...ended, policy: free, output: output("../outside/x") })).toEqual([]);
});

test("lists the files that it cannot keep a command from creating", async () => {
  const { path: folder } = await agentFolder();
  const sandbox = new CommandSandbox({ environment: process.env });
  expect(await sandbox.unprotectedFiles([folder])).toEqual([]);
  const command = ["sh", "-c", "echo '{}' > opencode.json; echo x > plain.json"];
  const policy = { type: "workspaceWrite" } as const;
  await sandbox.launch({ command, cwd: folder, workspace: folder, policy, onOutput: () => undefined });
  expect(await sandbox.unprotectedFiles([folder])).toEqual([join(folder, "opencode.json")]);
});
