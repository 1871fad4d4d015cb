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
