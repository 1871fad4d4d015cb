import { KNOWN_AGENTS } from "@flint/drivers";
import { expect, test } from "vitest";
import { agentLogins, configuredAgents } from "./agents.ts";
import { parseConfig } from "./parse.ts";

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
