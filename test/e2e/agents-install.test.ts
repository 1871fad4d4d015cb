import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { KNOWN_AGENTS } from "@flint/drivers";
import { expect, test } from "vitest";
import { type CommandFixture, commandFixture } from "./flint.ts";

const claude = KNOWN_AGENTS.find(({ id }) => id === "claude")?.package;

/** An npm that puts a program of this content where Claude's is, with these hashes. */
function fakeNpm(hashes: Readonly<Record<string, string>>): string {
  return `#!${process.execPath}
const { mkdirSync, writeFileSync } = require("node:fs");
const { dirname } = require("node:path");
const args = process.argv.slice(2);
const root = args[args.indexOf("--prefix") + 1] + "/node_modules/";
const file = root + ${JSON.stringify(claude?.file)};
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, "#!/bin/sh\\necho '2.1.197 (Claude Code)'\\n");
writeFileSync(root + "npm-arguments.json", JSON.stringify(args));
const packages = Object.fromEntries(
  Object.entries(${JSON.stringify(hashes)}).map(([name, integrity]) => ["node_modules/" + name, { integrity }]),
);
writeFileSync(root + ".package-lock.json", JSON.stringify({ packages }));
`;
}

const OFFLINE_NPM = "#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\nexit 1\n";

interface Setup extends CommandFixture {
  readonly programs: string;
  flintWithNpm: CommandFixture["flint"];
}

async function withNpm(npm: string): Promise<Setup> {
  const fixture = await commandFixture();
  const bin = `${fixture.home}/bin`;
  await mkdir(bin);
  await writeFile(`${bin}/npm`, npm);
  await chmod(`${bin}/npm`, 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}` };
  return {
    ...fixture,
    programs: `${fixture.home}/.local/state/flint/programs`,
    flintWithNpm: (args) => fixture.flint(args, { env }),
  };
}

test("agents install fetches the tested version without scripts, and Flint uses it until it is removed", async () => {
  const { flintWithNpm: flint, programs } = await withNpm(fakeNpm(claude?.integrity ?? {}));
  // What an installation that was killed has left.
  await mkdir(`${programs}/.claude-killed/node_modules`, { recursive: true, mode: 0o700 });
  const installed = await flint(["agents", "install", "claude"]);
  expect(installed).toMatchObject({ code: 0, stdout: expect.stringContaining("Claude Code 2.1.197") });
  expect(existsSync(`${programs}/.claude-killed`)).toBe(false);
  const { default: args } = await import(`${programs}/claude/node_modules/npm-arguments.json`, {
    with: { type: "json" },
  });
  expect(args).toEqual(expect.arrayContaining(["--ignore-scripts", `${claude?.name}@${claude?.version}`]));
  const listed = JSON.parse((await flint(["agents", "--json"])).stdout);
  expect(listed).toContainEqual({
    ...{ agent: "claude", name: "Claude Code", installedByFlint: true, loggedIn: false },
    ...{
      path: `${programs}/claude/node_modules/${claude?.file}`,
      version: "2.1.197",
      testedVersion: "2.1.197",
    },
  });
  expect((await flint(["agents"])).stdout).toMatch(
    /^AGENT +VERSION +LOGIN +PROGRAM\nclaude +2\.1\.197 +no +\//,
  );
  expect(await flint(["agents", "remove", "claude"])).toMatchObject({ code: 0 });
  expect(existsSync(`${programs}/claude`)).toBe(false);
  expect(await flint(["agents", "remove", "claude"])).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining("was not installed with flint agents install") },
  });
});

test("agents install rejects a package with another hash, and leaves nothing behind", async () => {
  const hashes = Object.fromEntries(
    Object.keys(claude?.integrity ?? {}).map((name) => [name, "sha512-other"]),
  );
  const { flintWithNpm: flint, programs } = await withNpm(fakeNpm(hashes));
  const { code, stderr } = await flint(["agents", "install", "claude"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/has the hash sha512-other, not sha512-/);
  expect((await readdir(programs)).filter((name) => name !== "install.lock")).toEqual([]);
});

test("agents install explains that npm did not reach its registry, and keeps what npm said", async () => {
  const { flintWithNpm: flint } = await withNpm(OFFLINE_NPM);
  const { code, stderr } = await flint(["agents", "install", "codex"]);
  expect(code).toBe(1);
  expect(stderr).toContain("npm could not install @openai/codex@0.166.0");
  expect(stderr).toContain("npm ping");
  expect(stderr).toContain("ENOTFOUND");
});

test("agents install names the agent that was probably meant", async () => {
  const { flint } = await commandFixture();
  const { code, stderr } = await flint(["agents", "install", "gemnii"]);
  expect(code).toBe(2);
  expect(stderr).toContain("No agent gemnii. Did you mean gemini?");
});
