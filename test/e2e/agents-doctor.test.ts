import { mkdir, writeFile } from "node:fs/promises";
import { agentProgram, needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { type CommandFixture, commandFixture } from "./flint.ts";

/** A Codex of another day: it prints a protocol in which Flint finds one of its words, and that one changed. */
const OTHER_CODEX = `#!${process.execPath}
const { writeFileSync } = require("node:fs");
if (process.argv[2] === "--version") { console.log("codex-cli 0.999.0"); process.exit(); }
const params = { required: ["mood"], properties: { threadId: {}, input: {}, expectedTurnId: {}, mood: {} } };
const steer = { properties: { method: { enum: ["turn/steer"] }, params } };
const print = (name, schema) => writeFileSync(process.argv.at(-1) + "/" + name + ".json", JSON.stringify(schema));
print("ClientRequest", { oneOf: [steer] });
print("ServerRequest", {});
print("ServerNotification", {});
`;

interface Finding {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly fix?: string;
}

test("doctor lists what the installed Codex no longer has, and the version that does", async () => {
  const { findings, code } = await doctorWith(OTHER_CODEX);
  const [found, ...changes] = findings;
  expect(found).toMatchObject({ state: "absent", detail: expect.stringContaining("codex-cli 0.999.0") });
  expect(changes.map(({ detail }) => detail)).toEqual(
    expect.arrayContaining([
      "The request thread/start no longer exists.",
      "The request turn/start no longer exists.",
    ]),
  );
  const steer = "The request turn/steer requires a field mood that Flint does not send.";
  expect(changes).toContainEqual({
    ...{ name: "codex", state: "problem", detail: steer },
    fix: expect.stringContaining("npm install -g @openai/codex@0.166.0"),
  });
  expect(code).toBe(1);
});

test("a Codex that cannot print its schemas is not an error", async () => {
  const { findings } = await doctorWith("#!/bin/sh\nexit 1\n");
  expect(findings.map(({ state, detail }) => [state, detail.replace(/^.*codex, /, "")])).toEqual([
    ["absent", "not logged in"],
    ["absent", "cannot compare its protocol with that of Codex 0.166.0, which Flint supports"],
  ]);
});

needs("codex")("the supported Codex version is found without warnings", async () => {
  const { flint } = await commandFixture();
  const { findings } = await doctorOn(flint, agentProgram("codex") ?? "codex");
  expect(findings).toHaveLength(1);
  expect(findings[0]?.detail).toContain("codex-cli 0.166.0");
});

/** The report of doctor on a Codex that is this program. */
async function doctorWith(program: string) {
  const { flint, home } = await commandFixture();
  await mkdir(`${home}/bin`);
  await writeFile(`${home}/bin/codex`, program, { mode: 0o755 });
  return doctorOn(flint, `${home}/bin/codex`);
}

/** The report of doctor on the Codex at this path. */
async function doctorOn(flint: CommandFixture["flint"], path: string) {
  const { code, stdout } = await flint(["doctor", "--json"], { env: { CODEX_EXECUTABLE: path } });
  const all: readonly Finding[] = JSON.parse(stdout);
  return { code, findings: all.filter(({ name }) => name === "codex") };
}

/** A Claude of another day, which lists its options or not. */
function otherClaude(options: string): string {
  return `#!/bin/sh\ncase "$1" in --version) echo '9.9.9 (Claude Code)';; --help) echo '${options}';; esac\n`;
}

const CLAUDE_OPTIONS =
  "--input-format --output-format --include-partial-messages --replay-user-messages --permission-mode --strict-mcp-config --setting-sources --settings --append-system-prompt --resume --fork-session --session-id";

test.each([
  ["lists all options that Flint uses", CLAUDE_OPTIONS, "absent", "Flint is tested with Claude Code 2.1.197"],
  [
    "lacks one of them",
    CLAUDE_OPTIONS.replace("--session-id", ""),
    "problem",
    "this version no longer has --session-id, which Flint needs",
  ],
])("doctor compares another version of Claude that %s", async (_title, options, state, detail) => {
  const fixture = await commandFixture();
  const bin = `${fixture.home}/bin`;
  await mkdir(bin);
  await writeFile(`${bin}/claude`, otherClaude(options), { mode: 0o755 });
  const { stdout } = await fixture.flint(["doctor", "--json"], {
    env: { PATH: `${bin}:${process.env.PATH}` },
  });
  expect(JSON.parse(stdout)).toContainEqual({
    ...{ name: "claude", state, detail },
    fix: "flint agents install claude installs 2.1.197.",
  });
});
