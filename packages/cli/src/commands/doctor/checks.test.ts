import { writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { agents, isNodeNewEnough } from "./checks.ts";

test.each([
  ["18.20.0", false],
  ["20.18.3", false],
  ["20.19.0", true],
  ["21.7.0", false],
  ["22.12.0", false],
  ["22.13.0", true],
  ["24.0.0", true],
])("Node %s is new enough: %s", (version, enough) => {
  expect(isNodeNewEnough(version)).toBe(enough);
});

test("does not take the version of what runs an agent for that of the agent", async () => {
  const home = await temporaryFolder();
  const config = home.join("config.toml");
  const command = JSON.stringify([process.execPath, "x.mjs"]);
  await writeFile(config, `[agents.opencode]\ncommand = ${command}\n[agents.mine]\ncommand = ${command}\n`);
  vi.stubEnv("HOME", home.path);
  vi.stubEnv("FLINT_CONFIG", config);
  onTestFinished(() => void vi.unstubAllEnvs());
  const found = (await agents(home.path)).filter(({ name }) => name === "opencode" || name === "mine");
  expect(found.map(({ name, detail, fix }) => ({ name, detail, fix }))).toMatchObject([
    { name: "opencode", detail: expect.stringContaining("x.mjs, version unknown") },
    { name: "mine", detail: `${process.execPath} x.mjs, version unknown`, fix: undefined },
  ]);
});
