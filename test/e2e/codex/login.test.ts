import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { ClientConnection } from "@flint/frontends";
import { codexFrontend } from "@flint/frontends/codex";
import { streamTransport } from "@flint/rpc/node";
import { composeEngine } from "@flint/server";
import { agentFolder, agentProgram, leavesNoProcess, needs, realSandbox, WireClient } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { CodexDriver } from "../../../packages/drivers/src/codex/driver.ts";
import { SHORT_LIVED } from "../../../packages/drivers/src/codex/testing/codex-fixture.ts";
import { CodexSchemas } from "./schemas.ts";
import { ask, type Fields, fields } from "./server-under-test.ts";

/** Two clients of a server whose agent is the real Codex, with a home of its own. */
async function setUp() {
  leavesNoProcess();
  const { path } = await agentFolder();
  const cwd = join(path, "workspace");
  await mkdir(cwd);
  const home = join(path, "codex");
  await mkdir(home);
  const program = { command: [agentProgram("codex") ?? "codex"], environment: { CODEX_HOME: home } };
  const agent = { program: async () => program, sandbox: realSandbox(), stateFolder: path, version: "0" };
  const driver = new CodexDriver(agent, SHORT_LIVED);
  onTestFinished(() => driver.close());
  const engine = composeEngine({ root: join(path, "flint"), cwd, drivers: [driver] });
  onTestFinished(() => engine.close());
  const frontend = codexFrontend();
  const connect = async (): Promise<WireClient> => {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    new ClientConnection(frontend, engine, streamTransport(toServer, toClient));
    const client = WireClient.over(toClient, toServer);
    await client.request("initialize", { clientInfo: { name: "probe", version: "1" } });
    return client;
  };
  return { client: await connect(), other: await connect(), login: join(home, "auth.json") };
}

function fits(sent: Fields, expected: object): boolean {
  return Object.entries(expected).every(([name, value]) => sent[name] === value);
}

const KEY = "sk-proj-0123456789abcdefghij";

needs("codex")("[S2-24] [S2-25] a client logs in to the real Codex and out of it", async () => {
  const schemas = await CodexSchemas.print();
  const { client, other, login } = await setUp();
  const both = [client, other];
  const notified = async (method: string, params: object) => {
    const isIt = (sent: Fields) => sent.method === method && fits(fields(sent.params), params);
    const received = await Promise.all(both.map((each) => each.waitFor(isIt)));
    expect(received.flatMap((message) => schemas.notification(message))).toEqual([]);
  };

  const started = await ask(client, "account/login/start", { type: "apiKey", apiKey: KEY });
  expect([started, schemas.answer("account/login/start", started)]).toEqual([{ type: "apiKey" }, []]);
  await notified("account/login/completed", { loginId: null, success: true });
  await notified("account/updated", { authMode: "apikey" });
  expect(readFileSync(login, "utf8")).toContain(KEY);
  expect(await ask(client, "account/read")).toMatchObject({ account: { type: "apiKey" } });
  expect(await ask(client, "getAuthStatus")).toMatchObject({ authMethod: "apikey" });

  const inBrowser = await ask(other, "account/login/start", { type: "chatgpt" });
  expect(schemas.answer("account/login/start", inBrowser)).toEqual([]);
  expect(inBrowser.authUrl).toMatch(/^https:\/\/\S+redirect_uri=/);
  const { loginId } = inBrowser;
  expect(await ask(client, "account/login/cancel", { loginId })).toEqual({ status: "canceled" });
  await notified("account/login/completed", { loginId, success: false });
  expect(await ask(client, "account/login/cancel", { loginId })).toEqual({ status: "notFound" });
  // What was there before is still in use.
  expect(await ask(client, "account/read")).toMatchObject({ account: { type: "apiKey" } });

  expect(await ask(client, "account/logout")).toEqual({});
  await notified("account/updated", { authMode: null });
  expect(existsSync(login)).toBe(false);
  expect(await ask(other, "account/read")).toMatchObject({ account: null });

  const returned = { type: "chatgptAuthTokens", accessToken: "t", chatgptAccountId: "a" };
  await expect(client.request("account/login/start", returned)).rejects.toThrow(/Log in with apiKey/);
});
