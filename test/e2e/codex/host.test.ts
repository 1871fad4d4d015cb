import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { ClientConnection } from "@flint/frontends";
import { codexFrontend } from "@flint/frontends/codex";
import { CODEX_HOST_REQUESTS } from "@flint/protocol/codex";
import { streamTransport } from "@flint/rpc/node";
import { composeEngine } from "@flint/server";
import { needs, type ScriptedOptions, scriptedDriver, temporaryFolder, WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { codexHost } from "../../../packages/server/src/codex-host/codex-host.ts";
import { CodexSchemas } from "./schemas.ts";
import { ask, type Fields, fields } from "./server-under-test.ts";

/** A client of a server with its own workspace and home. */
async function setUp(options: ScriptedOptions = {}, others: readonly ScriptedOptions[] = []) {
  const { path } = await temporaryFolder();
  const [home, workspace] = [join(path, "home"), join(path, "workspace")];
  await mkdir(workspace, { recursive: true });
  const engine = composeEngine({
    root: home,
    cwd: workspace,
    drivers: [options, ...others].map(scriptedDriver),
  });
  onTestFinished(() => engine.close());
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  new ClientConnection(codexFrontend(codexHost(home)), engine, streamTransport(toServer, toClient));
  const client = WireClient.over(toClient, toServer);
  const params = { clientInfo: { name: "probe", version: "1" }, capabilities: { experimentalApi: true } };
  await client.request("initialize", params);
  return { client, home, workspace };
}

async function git(workspace: string, ...args: readonly string[]): Promise<void> {
  const named = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...named, ...args], { cwd: workspace, stdio: "ignore" });
}

describe("a request about the machine", () => {
  needs("codex")("[S2-22] [S2-26] [S2-29] has an answer that fits the schemas of Codex", async () => {
    const schemas = await CodexSchemas.print();
    const { client, workspace } = await setUp();
    await writeFile(join(workspace, "a.txt"), "hello");
    const edit = { keyPath: "tui.theme", value: "dark", mergeStrategy: "replace" };
    const asked: Readonly<Record<string, object>> = {
      "configRequirements/read": {},
      "config/read": { includeLayers: true },
      "config/value/write": edit,
      "config/batchWrite": { edits: [edit] },
      "config/mcpServer/reload": {},
      "skills/list": { cwds: [workspace] },
      "hooks/list": { cwds: [workspace] },
      "plugin/list": {},
      "plugin/installed": {},
      "collaborationMode/list": {},
      "permissionProfile/list": {},
      "experimentalFeature/list": {},
      "account/bedrock/checkGovCloudRequirements": {},
      "command/exec": { command: ["true"], sandboxPolicy: { type: "readOnly" } },
      "fs/readFile": { path: join(workspace, "a.txt") },
      fuzzyFileSearch: { query: "a", roots: [workspace] },
    };
    const problems: string[] = [];
    for (const [method, params] of Object.entries(asked)) {
      problems.push(...schemas.answer(method, await client.request(method, params)));
    }
    expect(problems).toEqual([]);
    // An earlier version had it, and prints no schema any more.
    expect(await client.request("getAuthStatus", {})).toMatchObject({ requiresOpenaiAuth: false });
    // The others answer with an error here, which is looked at below, or need a repository.
    const others = ["getAuthStatus", "gitDiffToRemote"];
    // The driver asks Codex for these too, so they are declared there.
    const asksCodex = ["experimentalFeature/list", "hooks/list", "plugin/list", "plugin/installed"];
    const known = [...Object.keys(CODEX_HOST_REQUESTS), ...asksCodex];
    expect([...Object.keys(asked), ...others].sort()).toEqual(known.sort());
  });

  test("[S2-26] config/read has the settings of this server, and what clients wrote", async () => {
    const { client } = await setUp();
    const before = fields((await ask(client, "config/read")).config);
    expect(before).toMatchObject({ model: "scripted/steady", model_provider: "scripted" });
    expect(before).toMatchObject({ approval_policy: "on-request", sandbox_mode: "workspace-write" });
    const edits = [
      { keyPath: "notice.seen", value: true, mergeStrategy: "replace" },
      { keyPath: "model", value: "another/model", mergeStrategy: "replace" },
      { keyPath: "__proto__.polluted", value: true, mergeStrategy: "replace" },
    ];
    const { version } = await ask(client, "config/batchWrite", { edits });
    const after = fields((await ask(client, "config/read")).config);
    expect(after).toMatchObject({ notice: { seen: true }, model: "scripted/steady" });
    expect(fields({}).polluted).toBeUndefined();
    const stale = { keyPath: "a", value: 1, mergeStrategy: "replace", expectedVersion: "sha256:0" };
    await expect(client.request("config/value/write", stale)).rejects.toThrow(
      /has changed since it was read/,
    );
    await client.request("config/value/write", { ...stale, expectedVersion: version });
  });

  test("[S2-23] [S2-24] [S2-25] an agent without accounts needs no login, and says that it has none", async () => {
    const { client } = await setUp();
    expect(await ask(client, "account/read")).toMatchObject({ account: null, requiresOpenaiAuth: false });
    await expect(client.request("account/rateLimits/read", {})).rejects.toThrow(/authentication required/);
    await expect(client.request("account/login/start", { type: "chatgpt" })).rejects.toThrow(
      /has no account/,
    );
    expect(await client.request("account/logout", {})).toEqual({});
  });

  needs("codex")("[S2-22] [S2-28] the account and the MCP servers are those of the agent", async () => {
    const schemas = await CodexSchemas.print();
    const account = {
      account: { type: "chatgpt", label: "ada@host.example", plan: "plus" },
      requiresLogin: false,
    };
    const mcpServers = [
      { name: "files", status: "ready" },
      { name: "lamps", status: "failed", error: "no such program" },
    ] as const;
    const { client } = await setUp({ id: "codex", account, mcpServers });
    const read = await ask(client, "account/read");
    expect(schemas.answer("account/read", read)).toEqual([]);
    expect(read.account).toMatchObject({ type: "chatgpt", email: "ada@host.example", planType: "plus" });
    const servers = await ask(client, "mcpServerStatus/list");
    expect(schemas.answer("mcpServerStatus/list", servers)).toEqual([]);
    expect(servers.data).toMatchObject([
      { name: "files", runtimeStatus: "connected", toolsError: null },
      { name: "lamps", runtimeStatus: "failed", toolsError: "no such program" },
    ]);
    const { client: other } = await setUp({ account });
    expect(await ask(other, "account/read")).toMatchObject({ account: null });
  });

  needs("codex")("[S2-23] the usage limits of any agent come in the shape of Codex", async () => {
    const schemas = await CodexSchemas.print();
    const resetsAt = Math.floor(Date.now() / 1000) + 3_600;
    const limits = [
      { window: "7 days", windowMinutes: 10_080, usedPercent: 12.4, status: "ok", source: "frame" },
      {
        window: "5 hours",
        windowMinutes: 300,
        resetsAtMs: resetsAt * 1000,
        status: "reached",
        source: "frame",
      },
      { window: "7 days", model: "big", usedPercent: 95, status: "warning", source: "frame" },
    ] as const;
    const { client, workspace } = await setUp({ scripts: [[{ emit: { type: "limits", limits } }]] });
    const { thread } = await ask(client, "thread/start", { cwd: workspace });
    const threadId = fields(thread).id;
    await ask(client, "turn/start", { threadId, input: [{ type: "text", text: "go", text_elements: [] }] });
    const sent = await client.waitForMethod("account/rateLimits/updated");
    expect(schemas.notification(fields(sent))).toEqual([]);
    const main = {
      limitId: "scripted",
      primary: { usedPercent: 100, windowDurationMins: 300, resetsAt },
      secondary: { usedPercent: 12, windowDurationMins: 10_080, resetsAt: null },
      rateLimitReachedType: "rate_limit_reached",
    };
    expect(sent.params).toMatchObject({ rateLimits: main });
    const answer = await ask(client, "account/rateLimits/read");
    expect(schemas.answer("account/rateLimits/read", answer)).toEqual([]);
    expect(answer).toMatchObject({
      rateLimits: main,
      rateLimitsByLimitId: { scripted: main, "scripted/big": { limitName: "scripted/big" } },
    });
  });

  test("[S2-23] the main usage limits are those of the default agent, also if another one reported last", async () => {
    const reported = (window: string) =>
      ({ emit: { type: "limits", limits: [{ window, status: "ok", source: "frame" }] } }) as const;
    const alpha: ScriptedOptions = { id: "alpha", scripts: [[reported("5 hours")]] };
    const { client, workspace } = await setUp({ scripts: [[reported("7 days")]] }, [alpha]);
    for (const model of ["scripted/steady", "alpha/steady"]) {
      const { thread } = await ask(client, "thread/start", { cwd: workspace, model });
      const input = [{ type: "text", text: "go", text_elements: [] }];
      const after = client.mark;
      await ask(client, "turn/start", { threadId: fields(thread).id, input });
      await client.waitForMethod("turn/completed", { after });
    }
    const answer = await ask(client, "account/rateLimits/read");
    expect(Object.keys(fields(answer.rateLimitsByLimitId))).toEqual(["alpha", "scripted"]);
    expect(answer.rateLimits).toMatchObject({ limitId: "scripted" });
  });

  needs("namespaces")("[S2-30] command/exec runs in the sandbox, to its end", async () => {
    const { client, workspace } = await setUp();
    const script = "echo out; echo err >&2; echo x > made; exit 3";
    const ran = (policy: object) =>
      ask(client, "command/exec", { command: ["sh", "-c", script], cwd: workspace, sandboxPolicy: policy });
    expect(await ran({ type: "workspaceWrite" })).toMatchObject({
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect((await ran({ type: "readOnly" })).stderr).toMatch(/Read-only/);
    await expect(client.request("command/exec", { command: [] })).rejects.toThrow(/empty/);
    await expect(client.request("command/exec", { command: ["ls"], tty: true })).rejects.toThrow(/thread/);
  });

  test("[S2-3] with the JSON-RPC header is answered without it", async () => {
    const { client } = await setUp();
    client.send({ jsonrpc: "2.0", id: "with-header", method: "account/read", params: {} });
    const answer = await client.waitFor(({ id }) => id === "with-header");
    expect(answer).toMatchObject({ result: { requiresOpenaiAuth: false } });
    expect("jsonrpc" in answer).toBe(false);
  });

  test("fs/readFile reads a file, but none of Flint's own", async () => {
    const { client, home, workspace } = await setUp();
    await writeFile(join(workspace, "a.txt"), "hello");
    const { dataBase64 } = await ask(client, "fs/readFile", { path: join(workspace, "a.txt") });
    expect(Buffer.from(String(dataBase64), "base64").toString()).toBe("hello");
    await mkdir(join(home, "run"), { recursive: true });
    await writeFile(join(home, "run", "token"), "secret");
    const own = client.request("fs/readFile", { path: join(home, "run", "token") });
    await expect(own).rejects.toThrow(/belongs to Flint/);
  });

  needs("namespaces")("gitDiffToRemote has what no remote branch has, new files included", async () => {
    const { client, workspace } = await setUp();
    const none = client.request("gitDiffToRemote", { cwd: workspace });
    await expect(none).rejects.toThrow(/failed to compute git diff/);
    const remote = (await temporaryFolder()).join("remote.git");
    await git(workspace, "init");
    await git(workspace, "init", "--bare", remote);
    await writeFile(join(workspace, "a.txt"), "one\n");
    await git(workspace, "add", ".");
    await git(workspace, "commit", "-m", "first");
    await git(workspace, "remote", "add", "origin", remote);
    await git(workspace, "push", "origin", "HEAD:main");
    await writeFile(join(workspace, "a.txt"), "two\n");
    await git(workspace, "commit", "-am", "second");
    await writeFile(join(workspace, "new.txt"), "new\n");
    const answer: Fields = await ask(client, "gitDiffToRemote", { cwd: workspace });
    const published = execFileSync("git", ["rev-parse", "HEAD^"], { cwd: workspace, encoding: "utf8" });
    expect(answer.sha).toBe(published.trim());
    expect(answer.diff).toMatch(/-one\n\+two\n[\s\S]*\+new\n/);
  });
});
