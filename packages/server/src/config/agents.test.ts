import { KNOWN_AGENTS } from "@flint/drivers";
import { expect, test } from "vitest";
import { agentLogins, configuredAgents } from "./agents.ts";
import { parseConfig } from "./parse.ts";
import { agentPermissionsOf } from "./policies.ts";

test("the process span of an agent is configurable, and unknown values are rejected", async () => {
  const spanIn = async (text: string) => {
    const config = await parseConfig(text, "config.toml", "user");
    return configuredAgents(config).find(({ id }) => id === "claude")?.processSpan;
  };
  expect(await spanIn('[agents.claude]\nprocess = "turn"\n')).toBe("turn");
  expect(await spanIn("")).toBeUndefined();
  await expect(spanIn('[agents.claude]\nprocess = "week"\n')).rejects.toThrow(/"thread", "turn"/);
});

test("each login command of the descriptors is offered once, by the agent that has it first", () => {
  const logins = agentLogins();
  expect(logins.map(({ agent }) => agent)).toEqual(["claude", "codex", "opencode", "gemini", "goose"]);
  expect(logins[0]).toEqual({ agent: "claude", name: "Claude Code", command: "claude auth login" });
  const commands = KNOWN_AGENTS.flatMap(({ login }) => login?.command ?? []);
  expect(logins.map(({ command }) => command)).toEqual([...new Set(commands)]);
});

test("each login hint names the command that also finds programs that Flint installed", () => {
  const ids = agentLogins().map(({ agent }) => agent);
  const hints = KNOWN_AGENTS.flatMap(({ login }) => login?.hint ?? []);
  const named = hints.map((hint) => /^flint acp --login ([\w-]+)/.exec(hint)?.[1]);
  expect(new Set(named)).toEqual(new Set(ids));
});

test("a second account of an agent has its own name, folder and variables", async () => {
  const text = '[agents.work]\ndriver = "claude"\nhome = "/w/claude"\nmodel = "opus"\nenv = { A = "1" }\n';
  const work = configuredAgents(await parseConfig(text, "config.toml", "user")).find(
    ({ id }) => id === "work",
  );
  expect(work).toMatchObject({ driver: "claude", model: "opus", command: ["claude"] });
  // Not the user's own ANTHROPIC_API_KEY: it belongs to the first account.
  expect(work?.environment()).toEqual({ CLAUDE_CONFIG_DIR: "/w/claude", A: "1" });
});

test.each([
  ['[agents.claude]\ndriver = "codex"', "choose another name"],
  ['[agents."a b"]\ndriver = "codex"', "cannot be the name of an agent"],
  ['[agents.flint]\ndriver = "codex"', "cannot be the name of an agent"],
  ['[agents.mine]\ncommand = ["x"]\nhome = "/x"', "is for claude and codex"],
  ['[agents.mine]\ndriver = "gpt"', "must be"],
])("rejects %j and says what is valid", async (text, problem) => {
  await expect(parseConfig(text, "config.toml", "user")).rejects.toThrow(problem);
});

test("an agent can have permissions of its own; a mode sets all of them, and single keys override it", async () => {
  const of = async (text: string) =>
    agentPermissionsOf(await parseConfig(`[agents.work]\n${text}\n`, "config.toml", "user")).get("work");
  expect(await of('driver = "claude"')).toBeUndefined();
  expect(await of('sandbox = "read-only"')).toEqual({ sandboxPolicy: { type: "readOnly" } });
  expect(await of('permissions = "ask"\ngit = "off"\nnetwork = ["a.example"]')).toEqual({
    approvalPolicy: "unlessTrusted",
    sandboxPolicy: { type: "workspaceWrite" },
    network: { hosts: ["a.example"] },
    git: "off",
    acceptEdits: false,
  });
  expect(await of('permissions = "accept-edits"\napproval_policy = "always"')).toMatchObject({
    ...{ approvalPolicy: "always", acceptEdits: true },
  });
  await expect(of('network = ["https://a.example"]')).rejects.toThrow("agents.work.network: ");
  await expect(of('permissions = "alwas"')).rejects.toThrow("must be");
});
