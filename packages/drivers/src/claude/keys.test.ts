import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentProgram, needs } from "@flint/testkit";
import { expect } from "vitest";
import { realClaude, run } from "./testing/claude-fixture.ts";

const real = needs("claude");

/** A command that prints everything it can find on the processes around it. */
const LOOK = "(env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline) > seen";

/** A turn of Claude with these variables; its model gets the requests that lead to it. */
async function turnWith(
  keys: Readonly<Record<string, string>>,
  settings: (model: string) => Readonly<Record<string, string>> = () => ({}),
) {
  const environment: Record<string, string> = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", ...keys };
  const command = [agentProgram("claude") ?? "claude"];
  const program = async () => ({ command, environment });
  const fixture = await realClaude({ agent: { offlineModel: undefined, program } });
  environment.CLAUDE_CONFIG_DIR = fixture.config;
  environment.ANTHROPIC_BASE_URL ??= fixture.model.url;
  await writeFile(
    join(fixture.config, "settings.json"),
    JSON.stringify({ env: settings(fixture.model.url) }),
  );
  const { outcome } = await run(fixture, `run \`${LOOK}\``);
  const seen = await readFile(join(fixture.workspace, "seen"), "utf8");
  return { outcome, seen, headers: fixture.model.requests.at(-1)?.headers };
}

real("keeps its keys from Claude and its commands, and its model gets them [P31]", async () => {
  const keys = {
    ANTHROPIC_API_KEY: "key-not-for-commands",
    ANTHROPIC_AUTH_TOKEN: "token-not-for-commands",
    ANTHROPIC_CUSTOM_HEADERS: "X-Gateway: first-not-for-commands\nX-Tenant: second-not-for-commands",
    ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
  };
  // The user's settings of Claude win over the variables.
  const { outcome, seen, headers } = await turnWith(keys, (model) => ({ ANTHROPIC_BASE_URL: model }));
  expect(outcome).toEqual({ status: "completed" });
  expect(headers).toMatchObject({
    ...{ "x-api-key": "key-not-for-commands", authorization: "Bearer token-not-for-commands" },
    ...{ "x-gateway": "first-not-for-commands", "x-tenant": "second-not-for-commands" },
  });
  expect(seen).toContain("ANTHROPIC_API_KEY=flint-");
  expect(seen).not.toContain("not-for-commands");
});

real("keeps a token of the user's account from Claude and its commands [P31]", async () => {
  const { outcome, seen, headers } = await turnWith({ CLAUDE_CODE_OAUTH_TOKEN: "oauth-not-for-commands" });
  expect(outcome).toEqual({ status: "completed" });
  expect(headers).toMatchObject({ authorization: "Bearer oauth-not-for-commands" });
  expect(seen).not.toContain("not-for-commands");
});
