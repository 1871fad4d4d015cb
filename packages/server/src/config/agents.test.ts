import { expect, test } from "vitest";
import { configuredAgents } from "./agents.ts";
import { parseConfig } from "./parse.ts";

test("how long a process of Claude stays is the user's choice, and no other word is taken", async () => {
  const spanIn = async (text: string) => {
    const config = await parseConfig(text, "config.toml", "user");
    return configuredAgents(config).find(({ id }) => id === "claude")?.processSpan;
  };
  expect(await spanIn('[agents.claude]\nprocess = "turn"\n')).toBe("turn");
  expect(await spanIn("")).toBeUndefined();
  await expect(spanIn('[agents.claude]\nprocess = "week"\n')).rejects.toThrow(/"thread", "turn"/);
});
