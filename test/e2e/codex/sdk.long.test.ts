import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { agentProgram, descendantsOf, leavesNoProcess, needs, waitForExit } from "@flint/testkit";
import { expect, onTestFinished, vi } from "vitest";
import { offlineModel } from "../../../packages/drivers/src/testing/offline-model.ts";
import { collect, environmentIn, FLINT_CODEX, type SdkEvent, type SdkThread, sdkFixture } from "./sdk.ts";

const test = needs("codex-sdk");
const testWithBoth = needs(agentProgram("codex-sdk") === undefined ? "codex-sdk" : "codex");
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Several programs are started one after the other, on a machine that may be busy. */
const TEST_MS = 90_000;
const WITHIN_MS = 10_000;

test(
  "the Codex SDK runs a turn and gets the answer, the items and the tokens",
  async () => {
    const { workspace, codex } = await sdkFixture();
    const thread = codex().startThread({ workingDirectory: workspace });
    const turn = await thread.run("run `echo lantern`");
    expect(thread.id).toMatch(UUID);
    expect(turn.finalResponse).toContain("lantern");
    expect(turn.items).toEqual([
      {
        id: "item_0",
        type: "command_execution",
        command: "echo lantern",
        aggregated_output: "lantern\n",
        exit_code: 0,
        status: "completed",
      },
      { id: "item_1", type: "agent_message", text: turn.finalResponse },
    ]);
    expect(turn.usage).toEqual({
      input_tokens: expect.any(Number),
      cached_input_tokens: 0,
      cache_write_input_tokens: 0,
      output_tokens: expect.any(Number),
      reasoning_output_tokens: 0,
    });
  },
  TEST_MS,
);

test(
  "the Codex SDK streams a plan with its steps and the commands in between",
  async () => {
    const { workspace, codex } = await sdkFixture();
    const thread = codex().startThread({ workingDirectory: workspace, skipGitRepoCheck: true });
    const { events } = await thread.runStreamed("plan to list files and run `echo lantern`");
    const { events: received, thrown } = await collect(events);
    expect(thrown).toBeUndefined();
    expect(received.map(named)).toEqual([
      "thread.started",
      "turn.started",
      "item.started todo_list",
      "item.started command_execution",
      "item.completed command_execution",
      "item.updated todo_list",
      "item.started command_execution",
      "item.completed command_execution",
      "item.updated todo_list",
      "item.completed agent_message",
      "item.completed todo_list",
      "turn.completed",
    ]);
  },
  TEST_MS,
);

test(
  "the Codex SDK can change nothing without a sandbox mode, and only the workspace with one",
  async () => {
    const { workspace, codex } = await sdkFixture();
    const beside = join(dirname(workspace), "beside");
    await mkdir(beside);
    const options = { workingDirectory: workspace };
    const asked = "write `lantern` to notes.txt";
    const refused = await codex().startThread(options).run(asked);
    expect(refused.items[0]).toMatchObject({ type: "file_change", status: "failed" });
    expect(existsSync(join(workspace, "notes.txt"))).toBe(false);
    const writing = codex().startThread({ ...options, sandboxMode: "workspace-write" });
    const { items } = await writing.run(asked);
    const changes = [{ path: join(workspace, "notes.txt"), kind: "add" }];
    expect(items[0]).toEqual({ id: "item_0", type: "file_change", changes, status: "completed" });
    expect(await readFile(join(workspace, "notes.txt"), "utf8")).toContain("lantern");
    const outside = await writing.run(`run \`touch ${beside}/outside\``);
    expect(outside.items[0]).toMatchObject({ type: "command_execution", status: "failed" });
    expect(existsSync(join(beside, "outside"))).toBe(false);
    const more = codex().startThread({
      ...options,
      sandboxMode: "workspace-write",
      additionalDirectories: [beside],
    });
    const inside = await more.run(`run \`touch ${beside}/outside\``);
    expect(inside.items[0]).toMatchObject({ type: "command_execution", exit_code: 0 });
  },
  TEST_MS,
);

test(
  "the Codex SDK continues a thread, its own and one of an earlier process",
  async () => {
    const { workspace, codex } = await sdkFixture();
    const first = codex().startThread({ workingDirectory: workspace });
    await first.run("run `echo lantern`");
    const second = await first.run("what did I ask before?");
    expect(second.finalResponse).toContain("lantern");
    const later = codex().resumeThread(idOf(first), { workingDirectory: workspace });
    const { events } = await collect((await later.runStreamed("what did I ask before?")).events);
    expect(events[0]).toEqual({ type: "thread.started", thread_id: first.id });
    expect(JSON.stringify(events)).toContain("lantern");
  },
  TEST_MS,
);

test(
  "a thread that does not exist is an error that names it",
  async () => {
    const { codex } = await sdkFixture();
    const unknown = "01a1e316-321b-7052-93ed-a40b0e39ea25";
    await expect(codex().resumeThread(unknown).run("hello")).rejects.toThrow(`No thread "${unknown}"`);
  },
  TEST_MS,
);

test(
  "the answer to an output schema of the Codex SDK is JSON of that shape",
  async () => {
    const { workspace, codex } = await sdkFixture();
    const outputSchema = {
      type: "object",
      properties: { colour: { type: "string" } },
      required: ["colour"],
      additionalProperties: false,
    };
    const thread = codex().startThread({ workingDirectory: workspace });
    const { finalResponse } = await thread.run("answer as JSON: red", { outputSchema });
    expect(JSON.parse(finalResponse)).toEqual({ colour: expect.any(String) });
  },
  TEST_MS,
);

test(
  "a turn that fails reaches the Codex SDK with its reason",
  async () => {
    const { workspace, codex } = await sdkFixture();
    const thread = codex().startThread({ workingDirectory: workspace });
    await expect(thread.run("fail with no oil")).rejects.toThrow("The offline model failed: no oil");
    const { events, thrown } = await collect((await thread.runStreamed("fail with no oil")).events);
    const message = "The offline model failed: no oil";
    expect(events.slice(2)).toEqual([
      { type: "error", message },
      { type: "turn.failed", error: { message } },
    ]);
    expect(thrown).toMatchObject({ message: expect.stringContaining("exited with code 1") });
  },
  TEST_MS,
);

test(
  "every option of the Codex SDK is accepted, also those without an effect",
  async () => {
    const { workspace, home, codex } = await sdkFixture();
    const picture = join(home, "dot.png");
    await writeFile(picture, Buffer.from(DOT, "base64"));
    const more = join(home, "more");
    await mkdir(more);
    const sdk = codex({
      baseUrl: "http://127.0.0.1:9/v1",
      apiKey: "none",
      config: { features: { shiny: true }, hide_agent_reasoning: true, mcp_servers: {} },
      configOverrides: ["tools.view_image=true"],
    });
    const thread = sdk.startThread({
      model: "flint/offline",
      threadSource: "test",
      sandboxMode: "workspace-write",
      workingDirectory: workspace,
      skipGitRepoCheck: true,
      modelReasoningEffort: "high",
      networkAccessEnabled: true,
      webSearchMode: "live",
      approvalPolicy: "on-request",
      additionalDirectories: [more],
    });
    const input = [
      { type: "text", text: "run `echo lantern`" } as const,
      { type: "local_image", path: picture } as const,
    ];
    const { items, finalResponse } = await thread.run(input);
    expect(items.filter(({ type }) => type === "error")).toEqual([]);
    expect(finalResponse).toContain("lantern");
  },
  TEST_MS,
);

test(
  "flint-codex exec dies by the signal that ended it, as Codex does",
  async () => {
    const { workspace } = await sdkFixture();
    const args = ["exec", "--experimental-json", "--offline", "--skip-git-repo-check"];
    const env = environmentIn(dirname(workspace));
    const child = spawn(FLINT_CODEX, args, { cwd: workspace, env, stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stdin.end("run `sleep 30`");
    const closed = once(child, "close");
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes("item.started")) child.kill("SIGTERM");
    }
    expect(await closed).toEqual([null, "SIGTERM"]);
  },
  TEST_MS,
);

test(
  "an aborted turn of the Codex SDK leaves neither the program nor its command [P23]",
  async () => {
    const { workspace, codex } = await sdkFixture();
    const controller = new AbortController();
    const thread = codex().startThread({ workingDirectory: workspace });
    const { events } = await thread.runStreamed(`run \`${SLEEP}\``, { signal: controller.signal });
    const running = [];
    try {
      for await (const event of events) {
        if (event.type !== "item.started") continue;
        await vi.waitUntil(() => sleepers().length > 0, { timeout: WITHIN_MS });
        running.push(...descendantsOf(process.pid).filter(({ command }) => command.includes("flint-codex")));
        controller.abort();
      }
      expect.unreachable("an aborted turn does not end well");
    } catch (thrown) {
      expect(thrown).toMatchObject({ name: "AbortError" });
    }
    expect(running.length).toBeGreaterThan(0);
    await waitForExit(running, WITHIN_MS);
    await waitForExit(sleepers(), WITHIN_MS);
  },
  TEST_MS,
);

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(
    `nothing of flint-codex exec is left after ${signal} [P23]`,
    async () => {
      const { workspace, home } = await sdkFixture();
      leavesNoProcess();
      const args = ["exec", "--experimental-json", "--cd", workspace];
      const child = spawn(FLINT_CODEX, args, { env: environmentIn(home), stdio: ["pipe", "pipe", "ignore"] });
      const exited = once(child, "exit");
      child.stdin.end(`run \`${SLEEP}\``);
      for await (const line of createInterface({ input: child.stdout })) {
        if (line.includes("item.started")) break;
      }
      await vi.waitUntil(() => sleepers().length > 0, { timeout: WITHIN_MS });
      const running = [...descendantsOf(child.pid ?? 0), ...sleepers()];
      child.kill(signal);
      await exited;
      await waitForExit(running, WITHIN_MS);
    },
    TEST_MS,
  );
}

testWithBoth(
  "the Codex SDK sees the same events with the same fields from Flint as from Codex",
  async () => {
    const { workspace, home, codex } = await sdkFixture();
    const model = await offlineModel(onTestFinished);
    const provider = {
      name: "flint",
      base_url: `${model.url}/v1`,
      wire_api: "responses",
      request_max_retries: 0,
    };
    const real = codex({
      codexPathOverride: agentProgram("codex"),
      config: { model_provider: "flint", model_providers: { flint: provider } },
      env: environmentIn(home),
    });
    const options = { workingDirectory: workspace, sandboxMode: "workspace-write", skipGitRepoCheck: true };
    const flint = codex();
    for (const prompt of ["hello", "run `false`", "create a.txt", "think about oil", "fail with no oil"]) {
      const theirs = await shapes(real.startThread(options), prompt);
      const ours = await shapes(flint.startThread(options), prompt.replace("a.txt", "b.txt"));
      expect(ours, prompt).toEqual(theirs);
    }
  },
  TEST_MS,
);

/** A command that differs from those of other tests. */
const SLEEP = `sleep 3600.${process.pid}`;
/** A picture of one pixel. */
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function sleepers() {
  return descendantsOf(1).filter(({ command }) => command === SLEEP);
}

function idOf({ id }: SdkThread): string {
  if (id === null) throw new Error("The thread has no id.");
  return id;
}

function named({ type, item }: SdkEvent): string {
  return typeof item === "object" && item !== null && "type" in item ? `${type} ${item.type}` : type;
}

async function shapes(thread: SdkThread, prompt: string): Promise<unknown> {
  const { events, thrown } = await collect((await thread.runStreamed(prompt)).events);
  return [...events.map((event) => shapeOf(event)), thrown === undefined ? "well" : "with a failure"];
}

/** The shape of a value: names, types, and the strings that are states. */
function shapeOf(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((each) => shapeOf(each));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner, key)]));
  }
  return ["type", "status", "kind", "id", "exit_code"].includes(name) ? value : typeof value;
}
