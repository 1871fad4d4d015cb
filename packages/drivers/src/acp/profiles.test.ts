import { expect, test } from "vitest";
import { ACP_PROFILES, acpProfile, GENERIC_PROFILE, profileFor } from "./profiles.ts";

test("an agent is known by the name of its program, wherever it lies and whatever starts it", () => {
  expect(profileFor(["/usr/local/bin/opencode", "acp"]).id).toBe("opencode");
  expect(profileFor(["node", "/opt/claude-agent-acp.js"]).id).toBe("claude-agent-acp");
  expect(profileFor(["npx", "gemini", "--acp"]).id).toBe("gemini");
  expect(profileFor(["my-agent", "--acp"])).toBe(GENERIC_PROFILE);
  expect(profileFor([])).toBe(GENERIC_PROFILE);
});

test("an agent under an id of its own has the profile of its program, and none of the user's variables", () => {
  const custom = acpProfile("mine", ["/usr/bin/goose", "acp"]);
  expect(custom).toMatchObject({ id: "mine", displayName: "mine", stopsWhenIdle: true });
  expect(custom.ownVariables.test("GOOSE_MODE")).toBe(false);
  expect(acpProfile("goose", ["/opt/another"]).ownVariables.test("GOOSE_MODE")).toBe(true);
});

test("no agent is told that it may use files or commands through Flint unless that is known to be safe", () => {
  const told = [GENERIC_PROFILE, ...ACP_PROFILES].filter(({ fs, terminal }) => fs || terminal);
  expect(told).toEqual([]);
});

test("every agent that can work offline does so at the given address, with its state in the given folder", () => {
  const offline = ACP_PROFILES.flatMap(({ id, offline: variables }) =>
    variables === undefined
      ? []
      : [[id, JSON.stringify(variables("http://127.0.0.1:1", "/folder"))] as const],
  );
  expect(offline.map(([name]) => name)).toEqual(["opencode", "claude-agent-acp", "codex-acp", "goose"]);
  for (const [name, variables] of offline) expect(variables, name).toContain("http://127.0.0.1:1");
});

test("modes that are known beforehand are modes that can be refused", () => {
  for (const { id: name, modes, modesWithoutAsking } of ACP_PROFILES) {
    const known = modes.map(({ id }) => id);
    if (known.length > 0)
      expect(known, name).toEqual(expect.arrayContaining(modesWithoutAsking.filter((id) => id !== "auto")));
  }
});

test("Codex over ACP keeps what the user configured when it is confined, and one that it cannot read is left to it", () => {
  const confined = (CODEX_CONFIG?: string) =>
    acpProfile("codex-acp", []).confined?.(CODEX_CONFIG === undefined ? {} : { CODEX_CONFIG }) ?? {};
  const { CODEX_CONFIG = "" } = confined('{"model":"m","developer_instructions":"Be brief."}');
  expect(JSON.parse(CODEX_CONFIG)).toEqual({
    model: "m",
    developer_instructions: expect.stringMatching(/^Be brief\.\n\nThis whole session .*require_escalated/),
  });
  expect(confined().CODEX_CONFIG).toContain("require_escalated");
  expect(confined("{")).toEqual({});
});
