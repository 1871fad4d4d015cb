import { existsSync } from "node:fs";
import { agentProgram, needs, WireClient, type WireMessage } from "@flint/testkit";
import { expect, test, vi } from "vitest";
import { serverFile } from "../../../packages/server/src/config/environment.ts";
import { asMessage } from "../server.ts";
import { spawnServer, TEST_MS, text, WAIT } from "./flint-codex.ts";
import { environmentIn, FLINT_CODEX, sdkFixture } from "./sdk.ts";

/** Nothing that runs without a question, and harmless in every sandbox. */
const COMMAND = "sh -c 'echo lantern'";
/** Its output, as it stands in JSON. */
const OUTPUT = "lantern\\n";

needs("codex-acp")(
  "codex-acp works with Flint as with Codex: text, approvals both ways, and a cancel",
  async () => {
    const { acp, sessionId } = await codexAcp();
    const prompt = (text: string) =>
      acp.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }, WAIT);

    expect(await prompt("hello")).toMatchObject({ stopReason: "end_turn" });
    expect(textOf(acp, 0)).toContain("offline model");

    let from = acp.mark;
    let turn = prompt(`run \`${COMMAND}\``);
    await decide(acp, from, "allow_once");
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(textOf(acp, from)).toContain("lantern");
    expect(JSON.stringify(updatesIn(acp, from))).toContain(OUTPUT);

    from = acp.mark;
    turn = prompt(`run \`${COMMAND}\``);
    await decide(acp, from, "reject_once");
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(textOf(acp, from)).toContain("declined");
    expect(JSON.stringify(updatesIn(acp, from))).not.toContain(OUTPUT);

    from = acp.mark;
    turn = prompt("count to 100000");
    await acp.waitForMethod("session/update", { after: from, ...WAIT });
    acp.notify("session/cancel", { sessionId });
    expect(await turn).toMatchObject({ stopReason: "cancelled" });
    acp.end();
    await acp.exited;
  },
  TEST_MS,
);

test(
  "settings that a client gives its app server apply to threads without their own",
  async () => {
    const { workspace, home } = await sdkFixture();
    const settings = ["-c", 'approval_policy="never"', "-c", "sandbox_mode=read-only", "-c", "shiny=1"];
    const wire = spawnServer(workspace, home, [...settings, "app-server", "--listen", "stdio://"]);
    await wire.request("initialize", { clientInfo: { name: "test", version: "1" } }, WAIT);
    expect(await wire.request("thread/start", { cwd: workspace }, WAIT)).toMatchObject({
      approvalPolicy: "never",
      sandbox: { type: "readOnly" },
    });
    expect(wire.stderr).toContain("Ignoring --config shiny");
    wire.end();
    expect(await wire.exited).toEqual({ code: 0, signal: null });
  },
  TEST_MS,
);

test(
  "two clients that each start an app server share the same live thread, until they close its input [S2-2]",
  async () => {
    const { workspace, home } = await sdkFixture();
    const one = spawnServer(workspace, home);
    const clientInfo = { name: "test", version: "1" };
    await one.request("initialize", { clientInfo }, WAIT);
    const { thread } = asMessage(await one.request("thread/start", { cwd: workspace }, WAIT));
    const { id: threadId } = asMessage(thread);
    await one.request("turn/start", { threadId, input: text("hello") }, WAIT);
    await one.waitForMethod("turn/completed", WAIT);
    await vi.waitUntil(() => existsSync(serverFile(home)), { timeout: WAIT.withinMs });
    const other = spawnServer(workspace, home);
    await other.request("initialize", { clientInfo }, WAIT);
    await other.request("thread/resume", { threadId }, WAIT);
    const after = one.mark;
    await other.request("turn/start", { threadId, input: text("hello again") }, WAIT);
    const completed = await one.waitForMethod("turn/completed", { after, ...WAIT });
    expect(completed.params).toMatchObject({ threadId, turn: { status: "completed" } });
    for (const wire of [other, one]) {
      wire.end();
      expect(await wire.exited).toEqual({ code: 0, signal: null });
    }
  },
  TEST_MS,
);

/** A session of the real codex-acp, whose Codex is Flint. */
async function codexAcp(): Promise<{ acp: WireClient; sessionId: unknown }> {
  const { workspace, home } = await sdkFixture();
  const acp = WireClient.spawn([agentProgram("codex-acp") ?? "codex-acp"], {
    cwd: workspace,
    // In its usual mode a second model would be asked instead of us.
    env: { ...environmentIn(home), CODEX_PATH: FLINT_CODEX, INITIAL_AGENT_MODE: "read-only" },
    header: true,
  });
  await acp.request("initialize", { protocolVersion: 1, clientCapabilities: {} }, WAIT);
  const made = asMessage(await acp.request("session/new", { cwd: workspace, mcpServers: [] }, WAIT));
  return { acp, sessionId: made.sessionId };
}

async function decide(acp: WireClient, after: number, kind: string): Promise<void> {
  const asked = await acp.waitForMethod("session/request_permission", { after, ...WAIT });
  const { options } = asMessage(asked.params);
  const option = Array.isArray(options) ? options.find((each) => asMessage(each).kind === kind) : undefined;
  const { optionId } = asMessage(option);
  acp.answer(asked.id, { outcome: { outcome: "selected", optionId } });
}

function updatesIn(acp: WireClient, from: number): WireMessage[] {
  return acp.messages
    .slice(from)
    .filter(({ method }) => method === "session/update")
    .map(({ params }) => asMessage(asMessage(params).update));
}

function textOf(acp: WireClient, from: number): string {
  const chunks = updatesIn(acp, from).filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
  return chunks.map(({ content }) => String(asMessage(content).text ?? "")).join("");
}
