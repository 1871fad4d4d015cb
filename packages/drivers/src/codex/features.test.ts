import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NO_STEERING, type Steering } from "@flint/core/ports";
import { needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { skillsIn } from "./skills.ts";
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

test("the skills of a project that is not trusted are left out [S2-84]", () => {
  const skill = { name: "review", description: "Reviews.", path: "/w/SKILL.md", enabled: true };
  const listed = [
    {
      cwd: "/w",
      skills: [
        { ...skill, scope: "repo" },
        { ...skill, scope: "user" },
      ],
      errors: [],
    },
  ];
  const file = { folder: "/w", path: ".agents/skills" };
  const scopes = (steering: Steering) => skillsIn(listed, "/w", steering).skills.map(({ scope }) => scope);
  expect(scopes({ ...NO_STEERING, untrusted: [file] })).toEqual(["user"]);
  expect(scopes({ ...NO_STEERING, trusted: [file] })).toEqual(["repo", "user"]);
});

real("lists the skills that the real Codex has in a folder, as its threads have them [S2-84]", async () => {
  const { open, settings, driver, cwd, model } = await codexFixture([[{ text: "Hello." }]]);
  const folder = join(cwd, ".agents/skills/lamps");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "SKILL.md"), "---\nname: lamps\ndescription: Changes lamps.\n---\n");
  const file = { folder: cwd, path: ".agents/skills" };
  const untrusted = { ...NO_STEERING, untrusted: [file] };
  await run(await open({ steering: async () => untrusted }), { text: "go", settings });
  expect(JSON.stringify(model.requests)).not.toContain("Changes lamps.");
  const { skills, errors } = await driver.skills(cwd, { ...NO_STEERING, trusted: [file] });
  const lamps = { name: "lamps", description: "Changes lamps.", scope: "repo", enabled: true };
  expect(skills).toContainEqual({ ...lamps, path: join(folder, "SKILL.md") });
  expect(errors).toEqual([]);
  expect((await driver.skills(cwd, untrusted)).skills).not.toContainEqual(expect.objectContaining(lamps));
});
