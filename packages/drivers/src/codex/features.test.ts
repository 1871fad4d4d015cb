import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NO_STEERING, type Steering } from "@flint/core/ports";
import { needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { skillsIn } from "./extensions.ts";
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

real(
  "lists the hooks that the real Codex has, without Flint's own and those of an untrusted project [S2-29]",
  async () => {
    const { open, settings, driver, cwd, stateFolder } = await codexFixture([[{ text: "Hello." }]]);
    const hooks = (command: string) =>
      JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command }] }] } });
    await mkdir(join(cwd, ".codex"), { recursive: true });
    await writeFile(join(cwd, ".codex/hooks.json"), hooks("echo project"));
    await mkdir(join(stateFolder, "codex"), { recursive: true });
    await writeFile(join(stateFolder, "codex/hooks.json"), hooks("echo user"));
    await run(await open(), { text: "go", settings });
    const file = { folder: cwd, path: ".codex" };
    const own = await driver.hooks(cwd, { ...NO_STEERING, untrusted: [file] });
    expect(own).toMatchObject({ cwd, errors: [] });
    expect(own.hooks.map(({ event, command, source }) => [event, command, source])).toEqual([
      ["preToolUse", "echo user", "user"],
    ]);
    expect(own.hooks[0]?.meta).toMatchObject({
      handlerType: "command",
      trustStatus: "untrusted",
      matcher: "Bash",
    });
  },
);

real("lists the plugins of the real Codex; in a sandbox it has none [S2-29]", async () => {
  const { open, settings, driver, cwd } = await codexFixture([[{ text: "Hello." }]]);
  const [root, plugin] = [join(cwd, ".agents/plugins"), join(cwd, "plugins/lamps")];
  await mkdir(root, { recursive: true });
  await mkdir(join(plugin, ".codex-plugin"), { recursive: true });
  await writeFile(
    join(plugin, ".codex-plugin/plugin.json"),
    JSON.stringify({ name: "lamps", version: "1.0.0" }),
  );
  const source = { source: "local", path: "./plugins/lamps" };
  const policy = { installation: "AVAILABLE", authentication: "ON_INSTALL" };
  await writeFile(
    join(root, "marketplace.json"),
    JSON.stringify({ name: "house", plugins: [{ name: "lamps", source, policy, category: "Home" }] }),
  );
  const file = { folder: cwd, path: ".agents/plugins" };
  const trusted = { cwd, steering: { ...NO_STEERING, trusted: [file] } };
  const { data, errors } = await driver.plugins([trusted], false);
  expect(errors).toEqual([]);
  const house = data.find(({ name }) => name === "house");
  expect(house).toMatchObject({ path: join(root, "marketplace.json") });
  expect(house?.plugins).toMatchObject([
    { name: "lamps", installed: false, meta: { source: { type: "local" } } },
  ]);
  const untrusted = { cwd, steering: { ...NO_STEERING, untrusted: [file] } };
  expect((await driver.plugins([untrusted], false)).data).not.toContainEqual(
    expect.objectContaining({ name: "house" }),
  );
  expect((await driver.plugins([trusted], true)).data.flatMap(({ plugins }) => plugins)).toEqual([]);
  await run(await open(), { text: "go", settings });
  expect(await driver.plugins([trusted], false)).toEqual({ data: [], errors: [], featured: [] });
});
