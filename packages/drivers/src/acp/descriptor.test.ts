import { expect, test } from "vitest";
import { ACP_PROFILES, acpProfile, GEMINI, GOOSE, OPENCODE, profileFor } from "./descriptor.ts";
import { GENERIC } from "./profile.ts";

test("recognizes an agent by the name of its program, wherever that is and whatever starts it", () => {
  expect(profileFor(["/usr/local/bin/opencode", "acp"]).id).toBe("opencode");
  expect(profileFor(["node", "/opt/claude-agent-acp.js"]).id).toBe("claude-agent-acp");
  expect(profileFor(["npx", "gemini", "--acp"]).id).toBe("gemini");
  const unknown = profileFor(["my-agent", "--acp"]);
  expect(unknown).toEqual({ ...GENERIC, project: unknown.project });
  expect(profileFor([])).toEqual(GENERIC);
});

test("gives an agent under another id the profile of its program, and none of the user's variables", () => {
  const custom = acpProfile("mine", ["/usr/bin/goose", "acp"]);
  expect(custom).toMatchObject({ id: "mine", displayName: "mine", stopsWhenIdle: true });
  expect(custom.ownVariables.test("GOOSE_MODE")).toBe(false);
  expect(acpProfile("goose", ["/opt/another"]).ownVariables.test("GOOSE_MODE")).toBe(true);
});

test("offers no agent files or terminals through Flint unless that is known to be safe", () => {
  const offering = [GENERIC, ...ACP_PROFILES].filter(
    ({ offersFiles, offersTerminals }) => offersFiles || offersTerminals,
  );
  expect(offering).toEqual([]);
});

test("points every agent that works offline to the given address and folder", () => {
  const offline = ACP_PROFILES.flatMap(({ id, offlineVariables: variables }) =>
    variables === undefined
      ? []
      : [[id, JSON.stringify(variables("http://127.0.0.1:1", "/folder"))] as const],
  );
  expect(offline.map(([name]) => name)).toEqual(["opencode", "claude-agent-acp", "codex-acp", "goose"]);
  for (const [name, variables] of offline) expect(variables, name).toContain("http://127.0.0.1:1");
});

test("lists the autonomous modes of a profile among its modes", () => {
  for (const { id: name, modes, autonomousModes } of ACP_PROFILES) {
    const known = modes.map(({ id }) => id);
    if (known.length > 0)
      expect(known, name).toEqual(expect.arrayContaining(autonomousModes.filter((id) => id !== "auto")));
  }
});

test("codex-acp keeps the user's configuration in the sandbox, even if it is not JSON", () => {
  const profile = acpProfile("codex-acp", []);
  const confined = (CODEX_CONFIG?: string) =>
    profile.sandboxedVariables?.(CODEX_CONFIG === undefined ? {} : { CODEX_CONFIG }, true) ?? {};
  const given = '{"model":"m","features":{"goals":true,"plugins":true},"developer_instructions":"Be brief."}';
  const { CODEX_CONFIG = "" } = confined(given);
  expect(JSON.parse(CODEX_CONFIG)).toEqual({
    model: "m",
    features: { goals: true, plugins: false, shell_snapshot: false },
    developer_instructions: expect.stringMatching(/^Be brief\.\n\nThis whole session .*require_escalated/),
  });
  expect(confined().CODEX_CONFIG).toContain("require_escalated");
  expect(confined("{")).toEqual({});
});

test("hides from OpenCode everything that steers it: a variable does not keep it from loading plugins", () => {
  expect(OPENCODE.project.hides).toEqual(OPENCODE.project.files);
});

test.each([...ACP_PROFILES, profileFor(["/opt/my-agent"])].map(({ id, project }) => [id, project] as const))(
  "asks about everything of a project that it hides from %s",
  (_id, { files, hides }) => {
    const isAskedAbout = (name: string) => files.some((path) => `${path}/`.startsWith(`${name}/`));
    expect(hides.filter((name) => !isAskedAbout(name))).toEqual([]);
  },
);

test.each([
  ["Gemini", GEMINI, [".gemini", ".env", ".agents/skills"]],
  // Its plugins have hooks, which are programs.
  ["Goose", GOOSE, [".goose", ".agents/plugins", ".agents/skills", ".claude/skills"]],
] as const)("hides from %s the folders of others that steer it too", (_name, { project }, steering) => {
  expect(project.files).toEqual(expect.arrayContaining([...steering]));
  const isHidden = (path: string) => project.hides.some((name) => `${path}/`.startsWith(`${name}/`));
  expect(project.files.filter((path) => !isHidden(path))).toEqual([]);
});

test("treats every known project file as configuration of an unknown agent", () => {
  const { project } = profileFor(["/opt/my-agent"]);
  expect(project.files).toEqual(expect.arrayContaining([...GOOSE.project.files, ...GEMINI.project.files]));
});

test("hides from an unknown agent what steers any other one, and the folder of its name", () => {
  const { project } = profileFor(["/opt/my-agent"]);
  for (const name of [".my-agent", ".claude", ".codex", ".gemini", ".opencode", "opencode.json", ".mcp.json"])
    expect(project.hides).toContain(name);
});
