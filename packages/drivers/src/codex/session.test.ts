import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { McpServerConfig } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ThreadSettings } from "@flint/protocol";
import { agentProgram, lifecycleFaults, needs, RecordingTurn, waitForExit } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { visibleScript } from "../testing/visible-script.ts";
import { CodexDriver } from "./driver.ts";
import {
  code,
  codexFixture,
  codexProcesses,
  contextOf,
  realCodex,
  run,
  SHORT_LIVED,
} from "./testing/codex-fixture.ts";

const real = needs("codex");

describe("the process", () => {
  real(
    "serves all threads without a sandbox, and is stopped after the last one [S0-103, S4-7, S4-48]",
    async () => {
      const fixture = await codexFixture();
      const settings: ThreadSettings = { ...fixture.settings, sandboxPolicy: { type: "dangerFullAccess" } };
      const [first, second] = [await fixture.open({ settings }), await fixture.open({ settings })];
      const [left, right] = await Promise.all([
        run(first, { text: "hello", settings }),
        run(second, { text: "hello", settings }),
      ]);
      expect([left.outcome, right.outcome]).toEqual([{ status: "completed" }, { status: "completed" }]);
      const ids = [left, right].map(
        ({ turn }) => turn.events.find((event) => event.type === "session")?.nativeId,
      );
      expect(new Set(ids).size).toBe(2);
      const again = await run(first, { text: "what did I ask before?", settings });
      expect(again.turn.events.filter((event) => event.type === "session")).toEqual([]);
      expect(JSON.stringify(again.turn.completedItems)).toContain("hello");
      const running = codexProcesses();
      expect(running).toHaveLength(1);
      await Promise.all([first.close(), second.close()]);
      await waitForExit(running);
    },
  );
});

describe("the sandbox", () => {
  real("writes nothing under readOnly, with any tool", async () => {
    const { open, settings, cwd } = await codexFixture();
    const session = await open();
    const readOnly: ThreadSettings = {
      ...settings,
      approvalPolicy: "never",
      sandboxPolicy: { type: "readOnly" },
    };
    await run(session, { text: "run `touch made`", settings: readOnly });
    await run(session, { text: "create made.py that prints hi", settings: readOnly });
    expect([existsSync(`${cwd}/made`), existsSync(`${cwd}/made.py`)]).toEqual([false, false]);
  });

  real("writes only the workspace and temporary files under workspaceWrite", async () => {
    const { open, settings, cwd, outside } = await codexFixture();
    const session = await open();
    const never: ThreadSettings = { ...settings, approvalPolicy: "never" };
    const commands = [
      "touch made",
      `touch ${outside}/made`,
      "touch /tmp/flint-codex-test-made",
      "touch $TMPDIR/made",
    ];
    const { turn } = await run(session, {
      text: `run \`${commands.join("; echo $?; ")}; echo $?\``,
      settings: never,
    });
    const [command] = turn.completedItems.filter(({ type }) => type === "commandExecution");
    const output = String(Reflect.get(command ?? {}, "aggregatedOutput"));
    expect(output.split("\n").filter((line) => /^\d$/.test(line))).toEqual(["0", "1", "0", "0"]);
    expect([existsSync(`${cwd}/made`), existsSync(`${outside}/made`)]).toEqual([true, false]);
    // Its temporary folder is one of its own, and not the system's.
    expect(existsSync("/tmp/flint-codex-test-made")).toBe(false);
  });

  real("gives commands none of Codex's keys [P31]", async () => {
    const { open, settings, sandbox, stateFolder, model, cwd } = await codexFixture();
    const program = agentProgram("codex");
    const environment = { OPENAI_API_KEY: "sk-not-for-commands", CODEX_API_KEY: "sk-not-for-commands" };
    const options = {
      ...realCodex({ program, sandbox, stateFolder, url: () => model.url }),
      program: async () => ({ command: [program ?? "codex"], environment }),
    };
    const driver = new CodexDriver(options, SHORT_LIVED);
    onTestFinished(() => driver.close());
    const { turn } = await run(await open({}, driver), {
      text: "run `(env; cat /proc/[0-9]*/environ) > seen`",
      settings,
    });
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "commandExecution", exitCode: 0 }),
    );
    const seen = await readFile(`${cwd}/seen`, "utf8");
    expect(seen).toContain("CODEX_HOME=");
    expect(seen).not.toContain("sk-not-for-commands");
  });

  real("does not start Codex if no sandbox is available", async () => {
    const { open, settings, cwd } = await codexFixture();
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [] });
    const failed = run(await open({ sandbox }), { text: "run `touch made`", settings });
    await expect(failed).rejects.toThrow(/workspace-write \(workspaceWrite\) cannot be enforced here/);
    expect(existsSync(`${cwd}/made`)).toBe(false);
    expect(codexProcesses()).toEqual([]);
  });

  real("ignores the settings of a workspace, and does not mark it as trusted", async () => {
    const { open, settings, cwd, stateFolder } = await codexFixture();
    await mkdir(`${cwd}/.codex`);
    await mkdir(`${cwd}/.git`);
    const server = `[mcp_servers.evil]\ncommand = "touch"\nargs = ["${cwd}/started"]\n`;
    await writeFile(`${cwd}/.codex/config.toml`, server);
    await run(await open(), { text: "hello", settings });
    expect(existsSync(`${cwd}/started`)).toBe(false);
    expect(await readFile(`${stateFolder}/codex/config.toml`, "utf8").catch(() => "")).not.toContain(
      "trusted",
    );
  });
});

describe("server requests", () => {
  const lamps = async (): Promise<McpServerConfig> => ({
    ...{ type: "stdio", name: "lamps", command: process.execPath, env: {} },
    args: [await visibleScript(new URL("./testing/lamp-server.mjs", import.meta.url))],
  });

  real("calls a tool of the user's MCP server after approval", async () => {
    const { open, settings, driver } = await codexFixture(code(`tools.mcp__lamps__light({room: "hall"})`));
    const session = await open({ mcpServers: [await lamps()] });
    const { turn } = await run(session, { text: "go", settings });
    const call = { tool: "light", server: "lamps", arguments: { room: "hall" } };
    expect(turn.actions).toMatchObject([{ kind: "tool", ...call }]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "mcpToolCall", status: "completed", ...call }),
    );
    expect(lifecycleFaults(turn.events, true)).toEqual([]);
    expect(await driver.mcpServers()).toEqual([{ name: "lamps", status: "ready" }]);
  });

  real("[S2-76] calls a client-provided tool, and returns its result to the model", async () => {
    const lit = `text(JSON.stringify([await tools.lamp({room: "hall"}), await tools.house__door({open: true})]))`;
    const { open, settings, model } = await codexFixture([[{ call: "exec", raw: lit }], [{ text: "Done." }]]);
    const lamp = { name: "lamp", description: "A lamp.", inputSchema: { type: "object", properties: {} } };
    const gate = { ...lamp, name: "door", namespace: "house" };
    const session = await open({ clientTools: [lamp, gate] });
    const toolResult = { success: true, content: [{ type: "text", text: "It is so." }] } as const;
    const { turn } = await run(session, {
      ...{ text: "go", settings },
      toolResult: { success: true, content: [...toolResult.content] },
    });
    expect(turn.toolCalls).toMatchObject([
      { tool: "lamp", arguments: { room: "hall" } },
      { tool: "door", namespace: "house", arguments: { open: true } },
    ]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "toolCall", tool: "lamp", status: "completed" }),
    );
    expect(JSON.stringify(model.requests.at(-1))).toContain("It is so.");
    expect(lifecycleFaults(turn.events, true)).toEqual([]);
  });

  real("[S4-11] [S4-22] returns the user's answer to a question", async () => {
    const { open, settings } = await codexFixture();
    const plan: ThreadSettings = { ...settings, config: { collaboration_mode: "plan" } };
    const answers = { answer: { answers: ["blue"] } };
    const { turn } = await run(await open(), {
      text: "ask me which colour: red or blue",
      settings: plan,
      answers,
    });
    expect(turn.questions).toMatchObject([
      [{ question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] }],
    ]);
    expect(JSON.stringify(turn.completedItems)).toContain("blue");
  });
});

describe("other turns", () => {
  real("interrupts a review", async () => {
    const { open, settings } = await codexFixture([
      [{ repeat: "word ", times: 100_000 }],
      [{ text: "Hello." }],
    ]);
    const session = await open();
    const turn = new RecordingTurn({ text: "", settings });
    const review = { kind: "review", review: { type: "custom", instructions: "Look at it." } } as const;
    const outcome = session.run({ ...contextOf(turn), ...review });
    await turn.waitFor(({ type }) => type === "item/started");
    const [running] = codexProcesses();
    turn.stop();
    expect(await outcome).toEqual({ status: "interrupted" });
    expect(codexProcesses().map(({ pid }) => pid)).toEqual([running?.pid]);
    expect((await run(session, { text: "hello", settings })).outcome).toEqual({ status: "completed" });
  });

  real("[S0-104] shows the findings of a review, and a compaction", async () => {
    const { open, settings } = await codexFixture([
      [{ text: "Hello." }],
      [
        {
          text: '{"findings":[],"overall_correctness":"patch is correct","overall_explanation":"All is well.","overall_confidence_score":1}',
        },
      ],
      [{ text: "A summary." }],
      [{ text: "Still here." }],
    ]);
    const session = await open();
    await run(session, { text: "hello", settings });
    const review = { kind: "review", review: { type: "custom", instructions: "Look at it." } } as const;
    const reviewed = await run(session, { text: "", settings }, review);
    expect(reviewed.outcome).toEqual({ status: "completed" });
    expect(JSON.stringify(reviewed.turn.completedItems)).toContain("All is well.");
    const compacted = await run(session, { text: "", settings }, { kind: "compact" });
    expect(compacted.outcome).toEqual({ status: "completed" });
    expect(compacted.turn.completedItems.map(({ type }) => type)).toContain("contextCompaction");
    expect((await run(session, { text: "hello", settings })).outcome).toEqual({ status: "completed" });
  });
});

real("[S0-76] lists models, efforts and the account of Codex", async () => {
  const { driver, open } = await codexFixture();
  await open();
  const models = await driver.models();
  expect(models[0]).toMatchObject({ id: "codex/default", isDefault: true });
  expect(models.length).toBeGreaterThan(1);
  const options = await driver.options(models[1]?.id ?? "", { collaboration_mode: "plan" });
  expect(options.map(({ id }) => id)).toEqual(["reasoning_effort", "collaboration_mode"]);
  expect(options[0]?.options.map(({ id }) => id)).toContain("high");
  expect(options[1]).toMatchObject({ value: "plan" });
  expect(await driver.account()).toEqual({ account: null, requiresLogin: false });
  expect(codexProcesses()).toHaveLength(1);
});
