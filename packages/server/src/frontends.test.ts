import { memoryPair } from "@flint/rpc";
import { testEngine } from "@flint/testkit";
import { expect, test } from "vitest";
import { agentLogins } from "./config/agents.ts";
import { Frontends } from "./frontends.ts";

test("the ACP front end offers the logins of the known agents [S3-7]", async () => {
  const { engine } = testEngine({});
  const [server, client] = memoryPair();
  (await new Frontends(engine).open("acp")).connect(server);
  const response = new Promise<string>((resolve) => {
    client.start({ chunk: (bytes) => resolve(String(bytes)), closed: () => undefined });
  });
  client.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } })}\n`,
  );
  const { result } = JSON.parse(await response);
  expect(result.authMethods).toEqual(
    agentLogins().map(({ agent, name, command }) => ({
      id: `${agent}-login`,
      name: `Log in with ${name}`,
      description: `Run \`${command}\` in a terminal`,
    })),
  );
});
