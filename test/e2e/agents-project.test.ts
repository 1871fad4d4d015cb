import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { commandFixture } from "./flint.ts";

/** A project with a program of this name, which npm puts first on PATH. It leaves a file when it runs. */
async function plantedProgram(name: string) {
  const { flint, cwd, home } = await commandFixture();
  const folder = `${cwd}/node_modules/.bin`;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/${name}`, `#!/bin/sh\ntouch '${cwd}/ran'\n`, { mode: 0o755 });
  const tools = `${home}/tools`;
  await mkdir(tools);
  const env = { PATH: `${folder}:${tools}:/usr/bin:/bin:${dirname(process.execPath)}` };
  return {
    ...{ tools, planted: `${folder}/${name}`, hasRun: () => existsSync(`${cwd}/ran`) },
    flint: (...args: string[]) => flint(args, { env }),
  };
}

test.each([
  ["models", ["models"]],
  ["doctor", ["doctor"]],
  ["a login", ["acp", "--login", "codex"]],
])("%s does not run the project's own codex", async (_name, args) => {
  const { flint, hasRun } = await plantedProgram("codex");
  await flint(...args);
  expect(hasRun()).toBe(false);
});

test("doctor and a login name the program that is not used, and how to use it", async () => {
  const { flint, planted } = await plantedProgram("codex");
  const [doctor, login] = [await flint("doctor"), await flint("acp", "--login", "codex")];
  for (const text of [doctor.stdout, login.stderr].map((shown) => shown.replaceAll(/\s+/g, " "))) {
    expect(text).toContain(`${planted} is not used`);
    expect(text).toContain("set agents.codex.command");
  }
});

test("the project's own node does not run the user's codex", async () => {
  const { flint, tools, hasRun } = await plantedProgram("node");
  await writeFile(`${tools}/codex`, "#!/usr/bin/env node\nprocess.exit(3);\n", { mode: 0o755 });
  await flint("models");
  expect((await flint("acp", "--login", "codex")).code).toBe(3);
  expect(hasRun()).toBe(false);
});

test("the project's own programs are not those that a login or npm starts", async () => {
  const { flint, tools, hasRun } = await plantedProgram("node");
  const script = "#!/bin/sh\nnode --version > /dev/null\nexit 4\n";
  for (const name of ["codex", "npm"]) await writeFile(`${tools}/${name}`, script, { mode: 0o755 });
  expect((await flint("acp", "--login", "codex")).code).toBe(4);
  expect((await flint("agents", "install", "claude")).stderr).toContain("exit code 4");
  expect(hasRun()).toBe(false);
});
