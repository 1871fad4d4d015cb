import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { codexFixture, run } from "./testing/codex-fixture.ts";

const real = needs("codex");

real("lists the experimental features that the real Codex reports [S2-29]", async () => {
  const { open, settings, driver } = await codexFixture([[{ text: "Hello." }]]);
  await run(await open(), { text: "go", settings });
  const features = await driver.features();
  expect(features.length).toBeGreaterThan(5);
  for (const { name, stage, enabled } of features)
    expect([typeof name, typeof stage, typeof enabled]).toEqual(["string", "string", "boolean"]);
});
