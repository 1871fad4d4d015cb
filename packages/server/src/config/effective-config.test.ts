import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { choicesOf, effectiveConfig, typedValue } from "./effective-config.ts";
import { UserConfig } from "./user-config.ts";
import { TrustFile, WorkspaceFiles } from "./workspace-files.ts";

test("a trusted project's value goes before the user's, and that before the machine's, whose locks are named", async () => {
  const folder = await temporaryFolder();
  const [machinePath, userPath] = [folder.join("machine.toml"), folder.join("user.toml")];
  const machine = 'locked = ["sandbox"]\nsandbox = "read-only"\nmodel = "claude"\nstep_limit = 5\n';
  await writeFile(machinePath, machine, { mode: 0o600 });
  await writeFile(userPath, 'model = "codex"\nnetwork = ["a.example"]\n');
  const trust = new TrustFile(folder.join("trust.json"));
  const project = new WorkspaceFiles(trust);
  const user = new UserConfig(userPath);
  await mkdir(folder.join("code/.flint"), { recursive: true });
  const text = 'model = "flint/offline"\n';
  await writeFile(folder.join("code/.flint/config.toml"), text);
  const read = async () => {
    const found = await effectiveConfig({ user, project, cwd: folder.join("code"), machinePath });
    return found.map(({ name, value, path, lock }) => [name, value, path, lock?.path]);
  };
  const others = [
    ["sandbox", "read-only", machinePath, machinePath],
    ["step_limit", 5, machinePath, undefined],
    ["network", ["a.example"], userPath, undefined],
  ];
  const sorted = (rows: unknown[][]) => rows.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  expect(sorted(await read())).toEqual(sorted([...others, ["model", "codex", userPath, undefined]]));
  const sha256 = createHash("sha256").update(text).digest("hex");
  await project.trust(folder.join("code"), [{ path: ".flint/config.toml", sha256 }]);
  const here = ["model", "flint/offline", ".flint/config.toml", undefined];
  expect(sorted(await read())).toEqual(sorted([...others, here]));
});

test("values are typed as JSON unless the key takes a string, and the few that there are can be listed", () => {
  expect([typedValue("model", "5"), typedValue("step_limit", "5"), typedValue("network", '["a"]')]).toEqual([
    "5",
    5,
    ["a"],
  ]);
  expect(choicesOf("web.fetch")).toEqual(["true", "false"]);
  expect(choicesOf("durability")).toEqual(["full", "relaxed"]);
  expect([choicesOf("model"), choicesOf("nothing")]).toEqual([[], []]);
});
