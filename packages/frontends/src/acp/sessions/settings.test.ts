import { memoryPair, Peer } from "@flint/rpc";
import { describe, expect, test } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { setUpAcp } from "../testing/setup.ts";

describe("ACP session config", () => {
  test("is in the response to session/new, as config options and as modes and models [S3-19, S3-20, S3-21]", async () => {
    const { connect, path } = await setUpAcp({});
    const client = await connect();
    await client.request("session/new", { cwd: path, mcpServers: [] });
    const opened = Object(client.wire[1]?.result);
    expect(opened.modes).toMatchObject({ currentModeId: "ask" });
    expect(opened.models).toEqual({
      currentModelId: "scripted/steady",
      availableModels: [
        { modelId: "scripted/steady", name: "Steady" },
        { modelId: "scripted/swift", name: "Swift", description: "Answers sooner." },
      ],
    });
    const sent = opened.configOptions.map(({ id, type, category }: Record<string, string>) => [
      id,
      type,
      category,
    ]);
    expect(sent).toEqual([
      ["mode", "select", "mode"],
      ["model", "select", "model"],
      ["thinking", "select", "model_config"],
      ["auto_resume", "select", undefined],
    ]);
    expect(opened.configOptions[1]).toMatchObject({
      name: "Model",
      description: expect.any(String),
      currentValue: "scripted/steady",
      options: [
        { value: "scripted/steady", name: "Steady" },
        { value: "scripted/swift", name: "Swift", description: "Answers sooner." },
      ],
    });
    expect(opened.configOptions[3]).toMatchObject({
      name: "Auto-resume sessions",
      currentValue: "false",
      options: [
        { value: "true", name: "On" },
        { value: "false", name: "Off" },
      ],
    });
  });

  test("has boolean options only for clients that declare them", async () => {
    const { connect, path } = await setUpAcp({});
    const client = await connect({ capabilities: { session: { configOptions: { boolean: {} } } } });
    const { sessionId, configOptions } = await client.request("session/new", { cwd: path, mcpServers: [] });
    expect(configOptions?.[2]).toMatchObject({ id: "thinking", type: "boolean", currentValue: false });
    const set = { sessionId, configId: "thinking", type: "boolean", value: true };
    const answer = await client.request("session/set_config_option", set);
    expect(answer.configOptions[2]).toMatchObject({ id: "thinking", currentValue: true });
    expect(answer.configOptions[3]).toMatchObject({ id: "effort", category: "thought_level" });
  });

  test("applies a mode and sends it to every client of the session [S3-17, S3-32]", async () => {
    const { connect, path, driver } = await setUpAcp({});
    const [first, second] = [await connect(), await connect()];
    const sessionId = await first.newSession(path);
    await second.request("session/resume", { sessionId, cwd: path });
    expect(await first.request("session/set_mode", { sessionId, modeId: "read-only" })).toEqual({});
    await second.until(() =>
      second.of("current_mode_update").find(({ currentModeId }) => currentModeId === "read-only"),
    );
    await second.until(() => second.of("config_option_update")[0]);
    await first.prompt(sessionId, "go");
    expect(driver.turns[0]?.settings).toMatchObject({
      approvalPolicy: "unlessTrusted",
      sandboxPolicy: { type: "readOnly" },
    });
    await expect(first.request("session/set_mode", { sessionId, modeId: "nope" })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test("sets the model with either request and sends it to every client [S3-18, S3-33]", async () => {
    const { connect, path, driver } = await setUpAcp({});
    const [first, second] = [await connect(), await connect()];
    const sessionId = await first.newSession(path);
    await second.request("session/resume", { sessionId, cwd: path });
    expect(await first.request("session/set_model", { sessionId, modelId: "scripted/swift" })).toEqual({});
    const [update] = await second.until(() => {
      const sent = second.of("config_option_update");
      return sent.length > 0 ? sent : undefined;
    });
    expect(update?.configOptions[1]).toMatchObject({ id: "model", currentValue: "scripted/swift" });
    const set = { sessionId, configId: "model", value: "scripted/steady" };
    const { configOptions } = await first.request("session/set_config_option", set);
    expect(configOptions[1]).toMatchObject({ currentValue: "scripted/steady" });
    await first.prompt(sessionId, "go");
    expect(driver.turns[0]?.settings.model).toBe("scripted/steady");
  });

  test("sends current_model_update to clients that declare it [S3-18]", async () => {
    const { frontend, engine, connect, path } = await setUpAcp({});
    const client = await connect();
    const sessionId = await client.newSession(path);
    const [ours, theirs] = memoryPair();
    new ClientConnection(frontend, engine, ours);
    const modelId = new Promise<unknown>((resolve) => {
      const notification = (_method: string, params: unknown) => {
        const { update } = Object(params);
        if (update.sessionUpdate === "current_model_update") resolve(update.currentModelId);
      };
      const handlers = { request: () => undefined, notification, bad: () => undefined };
      const peer = new Peer(theirs, { header: true, lineLimit: 1 << 20, queueLimit: 1 << 20, handlers });
      peer.start();
      const clientCapabilities = { _meta: { current_model_update: true } };
      void peer.request("initialize", { protocolVersion: 1, clientCapabilities });
      void peer
        .request("session/resume", { sessionId, cwd: path })
        .then(() => client.request("session/set_model", { sessionId, modelId: "scripted/swift" }));
    });
    expect(await modelId).toBe("scripted/swift");
  });

  test.each([
    ["nope", "x"],
    ["mode", "x"],
    ["model", "x/y"],
    ["thinking", "x"],
    ["auto_resume", "x"],
  ])("rejects the option %s with the value %s with -32602", async (configId, value) => {
    const { connect, path } = await setUpAcp({});
    const client = await connect();
    const sessionId = await client.newSession(path);
    const refused = client.request("session/set_config_option", { sessionId, configId, value });
    await expect(refused).rejects.toMatchObject({ code: -32602 });
  });
});
