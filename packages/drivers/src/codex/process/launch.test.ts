import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ThreadSettings } from "@flint/protocol";
import { needs, testEngine, waitForExit } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionSpec, threadSandbox } from "../../testing/session-spec.ts";
import { CodexDriver } from "../driver.ts";
import { code, codexFixture, codexProcesses, run, SHORT_LIVED } from "../testing/codex-fixture.ts";
import { sandboxKey, serverSandbox, UNSANDBOXED } from "./launch.ts";

const real = needs("codex");

/** Without a reason it looks like any other command, so it needs approval and can be accepted. */
function escalated(command: string) {
  // The start-up files of this user's shell are not part of the test.
  const call = { cmd: command, sandbox_permissions: "require_escalated", login: false };
  return code(`tools.exec_command(${JSON.stringify(call)})`);
}

/** Codex without the offline model of Flint: a provider in its own configuration leads there. */
async function configuredFixture(address?: string) {
  const { model, settings, cwd, outside, stateFolder, program } = await codexFixture();
  const commands = new CommandSandbox({ environment: process.env, scopeFolder: `${stateFolder}/scopes` });
  onTestFinished(() => commands.closeScope("t"));
  const sandbox = threadSandbox(commands, () => false);
  const home = `${outside}/home`;
  await mkdir(home);
  const provider = `name = "Local"\nbase_url = "${address ?? model.url}/v1"\nwire_api = "responses"\n`;
  const config = `model = "offline"\nmodel_provider = "local"\n[model_providers.local]\n${provider}`;
  await writeFile(`${home}/config.toml`, config);
  const environment = { CODEX_HOME: home };
  const agent = { program: async () => ({ command: [program ?? "codex"], environment }) };
  const driver = new CodexDriver({ ...agent, ...{ stateFolder, sandbox, version: "0.0.0" } }, SHORT_LIVED);
  onTestFinished(() => driver.close());
  const open = async () => {
    const session = await driver.open(sessionSpec(settings, sandbox));
    onTestFinished(() => session.close());
    return session;
  };
  return { open, settings, cwd, driver, commands };
}

describe("an approved command that Codex runs outside of its own sandbox", () => {
  real("writes in the workspace only, and not in files that Codex reads later", async () => {
    const later = ["config.toml", "rules", "skills", "shell_snapshots/x", ".tmp/plugins", "plugins/x"];
    const paths = ["made", "../made", ...later.map((name) => `$CODEX_HOME/${name}`)];
    const script = paths.map((path) => `touch ${path} && echo wrote ${path}`).join("; ");
    const { open, settings, cwd, outside, stateFolder } = await codexFixture(escalated(script));
    const { turn, outcome } = await run(await open(), { text: "go", settings });
    expect(outcome).toEqual({ status: "completed" });
    expect(turn.actions).toMatchObject([{ kind: "command", command: script }]);
    const [command] = turn.completedItems.filter(({ type }) => type === "commandExecution");
    expect(String(Reflect.get(command ?? {}, "aggregatedOutput")).match(/^wrote .*$/gm)).toEqual([
      "wrote made",
    ]);
    const written = [`${cwd}/made`, `${outside}/made`, `${stateFolder}/codex/config.toml`];
    expect(written.map((path) => existsSync(path))).toEqual([true, false, false]);
  });

  real("writes nothing under readOnly", async () => {
    const { open, settings, cwd, outside } = await codexFixture(escalated("touch made; touch ../made"));
    const readOnly: ThreadSettings = { ...settings, sandboxPolicy: { type: "readOnly" } };
    const { turn } = await run(await open({ settings: readOnly }), { text: "go", settings: readOnly });
    expect(turn.actions).toHaveLength(1);
    expect([existsSync(`${cwd}/made`), existsSync(`${outside}/made`)]).toEqual([false, false]);
  });

  real("writes anywhere if the thread has no sandbox", async () => {
    const { open, settings, outside } = await codexFixture(escalated("touch ../made"));
    const free: ThreadSettings = { ...settings, sandboxPolicy: { type: "dangerFullAccess" } };
    await run(await open({ settings: free }), { text: "go", settings: free });
    expect(existsSync(`${outside}/made`)).toBe(true);
  });
});

real("moves a thread to another process when its sandbox policy changes, with its conversation", async () => {
  const { open, settings } = await codexFixture();
  const moving = await open();
  const first = await run(moving, { text: "the word is lantern", settings });
  const before = codexProcesses();
  const readOnly: ThreadSettings = { ...settings, sandboxPolicy: { type: "readOnly" } };
  const second = await run(moving, { text: "what did I ask you?", settings: readOnly });
  expect(JSON.stringify(second.turn.completedItems)).toContain("lantern");
  const between = codexProcesses().filter(({ pid }) => !before.some((process) => process.pid === pid));
  expect([before.length, between.length]).toEqual([1, 1]);
  const third = await run(moving, { text: "what did I ask you?", settings });
  expect(JSON.stringify(third.turn.completedItems)).toContain("lantern");
  const ids = [first, second, third].map(
    ({ turn }) => turn.events.find((event) => event.type === "session")?.nativeId,
  );
  expect(new Set(ids).size).toBe(1);
  await waitForExit(between);
});

real("declines what the rules forbid also under the approval policy never", async () => {
  const { open, settings, cwd } = await codexFixture();
  const never: ThreadSettings = { ...settings, approvalPolicy: "never" };
  const { turn } = await run(await open(), {
    ...{ text: "run `touch made`", settings: never },
    decide: () => ({ outcome: "deny", scope: "once", message: "The rules forbid it." }),
  });
  expect(turn.actions).toMatchObject([{ kind: "command", command: "touch made" }]);
  expect(existsSync(`${cwd}/made`)).toBe(false);
});

real("reaches in its sandbox the model that only the user's own configuration names", async () => {
  const { open, settings, cwd } = await configuredFixture();
  const { turn, outcome } = await run(await open(), { text: "run `touch made`", settings });
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.actions).toMatchObject([{ kind: "command", command: "touch made" }]);
  expect(existsSync(`${cwd}/made`)).toBe(true);
});

real("ends the turn of a Codex that goes on reconnecting, and names what it did not reach", async () => {
  const { driver, commands, cwd } = await configuredFixture("https://model.invalid:4000");
  const server = testEngine({ otherDrivers: [driver], sandbox: commands, silenceTimeoutMs: 3_600_000 });
  const client = server.connect();
  const threadId = await client.startThread({ model: "codex/default", cwd, approvalPolicy: "never" });
  await client.startTurn(threadId, "go");
  await client.waitFor("error");
  expect(client.eventsOf("error")[0]?.data).toMatchObject({ willRetry: true });
  await server.clock.advance(300_000);
  const { data } = await client.waitFor("turn/completed");
  expect(data.turn.error).toMatchObject({
    errorInfo: "AgentFailed",
    message: expect.stringMatching(/did not reach its model.*Reconnecting.*model\.invalid:4000: /),
  });
});

describe("the sandbox of a process", () => {
  type Settings = Pick<ThreadSettings, "cwd" | "sandboxPolicy">;
  const policy = { type: "workspaceWrite" as const, writableRoots: ["/x", "/y"] };
  const settings: Settings = { cwd: "/a", sandboxPolicy: policy };

  test("is the same for settings of a thread that allow the same paths", () => {
    const turned = { ...settings, sandboxPolicy: { ...policy, writableRoots: ["/y", "/x"] } };
    const online = { ...settings, sandboxPolicy: { ...policy, networkAccess: true } };
    expect(sandboxKey(serverSandbox(turned, "t"))).toBe(sandboxKey(serverSandbox(settings, "t")));
    expect(sandboxKey(serverSandbox(online, "t"))).toBe(sandboxKey(serverSandbox(settings, "t")));
  });

  test("is another one for each thread, because its network and its git directory are the thread's", () => {
    expect(sandboxKey(serverSandbox(settings, "other"))).not.toBe(sandboxKey(serverSandbox(settings, "t")));
  });

  test("differs for another folder, other roots and another policy", () => {
    const all: Settings[] = [
      settings,
      { ...settings, cwd: "/b" },
      { ...settings, sandboxPolicy: { type: "workspaceWrite" } },
      { ...settings, sandboxPolicy: { type: "readOnly" } },
      { ...settings, sandboxPolicy: { type: "dangerFullAccess" } },
    ];
    expect(new Set(all.map((each) => sandboxKey(serverSandbox(each, "t")))).size).toBe(5);
  });

  test("is not set for unsandboxed threads", () => {
    expect(serverSandbox({ cwd: "/a", sandboxPolicy: { type: "dangerFullAccess" } }, "t")).toBe(UNSANDBOXED);
    expect(serverSandbox({ cwd: "/a", sandboxPolicy: { type: "externalSandbox" } }, "t")).toBe(UNSANDBOXED);
  });
});
