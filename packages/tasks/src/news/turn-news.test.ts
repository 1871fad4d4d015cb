import type { EventBody, TaskState } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { executing, NOW } from "../testing/task.ts";
import { RunNews } from "./run-news.ts";
import { NEWS_TYPES, type News, TurnNews } from "./turn-news.ts";

const ofTurn = { threadId: "th", turnId: "tu" };
const turn = { id: "tu", status: "inProgress" as const, items: [], startedAt: 1 };

const state = (): TaskState => executing({ executors: [{ model: "claude/opus" }, { model: "codex" }] });

/** What these events become, after a turn has started. */
function newsOf(...events: readonly object[]): News[] {
  const news = new TurnNews(state(), "executor");
  news.of(event({ type: "turn/started", data: { threadId: "th", turn } }), NOW);
  return events.flatMap((each) => news.of(event(each), NOW));
}

function event(body: object): EventBody {
  // The fields that the code under test reads; a real turn has more of them.
  return body as EventBody;
}

const item = (fields: object) => ({
  type: "item/completed",
  data: { ...ofTurn, item: { id: "i", ...fields } },
});

describe("a turn of a task", () => {
  test("is reported at its start and its end [S2-53]", () => {
    const news = new TurnNews(state(), "executor");
    const started = news.of(event({ type: "turn/started", data: { threadId: "th", turn } }), NOW);
    const error = { message: "no luck" };
    const ended = { ...turn, status: "failed", error };
    const [last] = news.of(event({ type: "turn/completed", data: { threadId: "th", turn: ended } }), NOW);
    expect(started).toMatchObject([{ type: "task:turn", status: "started", turn_id: "tu" }]);
    expect(last).toMatchObject({ status: "completed", turn_status: "failed", error: "no luck" });
    expect(last?.extra).toMatchObject({ turn_id: "tu", thread_context: { active_turn_id: null } });
  });

  test("keeps the turn id from its start, so that it can be interrupted [S2-48]", () => {
    const [news] = newsOf({ type: "turn/diff/updated", data: { ...ofTurn, diff: "" } });
    expect(news?.extra.thread_context).toMatchObject({ active_turn_id: "tu", thread_id: "th" });
  });

  test("reports the start of an item [S2-54]", () => {
    const started = { ...item({ type: "webSearch", query: "x" }), type: "item/started" };
    expect(newsOf(started)).toMatchObject([
      { type: "task:item_started", status: "webSearch", item_type: "webSearch", query: "x" },
    ]);
  });

  test("reports the end of an item [S2-55]", () => {
    expect(newsOf(item({ type: "mcpToolCall", server: "s", tool: "t", status: "failed" }))).toMatchObject([
      { type: "task:item_completed", item_type: "mcpToolCall", server: "s", tool: "t" },
    ]);
  });

  test("reports items by a short summary, without output and with bounded text [S2-66]", () => {
    const command = {
      ...{
        type: "commandExecution",
        command: "ls",
        cwd: "/",
        status: "completed",
        exitCode: 0,
        durationMs: 3,
      },
      ...{ aggregatedOutput: "secret", commandActions: [{ type: "listFiles", command: "ls" }] },
    };
    const change = {
      type: "fileChange",
      status: "completed",
      changes: [{ path: "a", kind: "add", diff: "+" }],
    };
    const message = { type: "agentMessage", text: "x".repeat(1000) };
    const [ran, changed, said] = newsOf(item(command), item(change), item(message));
    const actions = [{ type: "listFiles" }];
    expect(ran).toMatchObject({ command: "ls", exit_code: 0, duration_ms: 3, command_actions: actions });
    expect(JSON.stringify(ran)).not.toContain("secret");
    expect(changed).toMatchObject({ files: ["a"] });
    expect(String(said?.text)).toHaveLength(500);
  });

  test("reports a new plan [S2-56]", () => {
    const plan = [{ step: "read", status: "completed" }];
    expect(newsOf({ type: "turn/plan/updated", data: { ...ofTurn, explanation: "", plan } })).toMatchObject([
      { type: "task:plan_updated", status: "plan" },
    ]);
  });

  test("reports each step of a plan with its state [S2-67]", () => {
    const plan = [
      { step: "read", status: "completed", priority: "high" },
      { step: "write", status: "pending" },
    ];
    const [news] = newsOf({ type: "turn/plan/updated", data: { ...ofTurn, explanation: "", plan } });
    expect(news?.steps).toEqual(plan.map(({ step, status }) => ({ step, status })));
  });

  test("reports the size of a new diff, not the diff [S2-57]", () => {
    const diff = "diff --git a/x b/x\n+é\n";
    expect(newsOf({ type: "turn/diff/updated", data: { ...ofTurn, diff } })).toMatchObject([
      { type: "task:turn_diff", diff_bytes: Buffer.byteLength(diff), diff_files: 1 },
    ]);
  });

  test("reports the tokens of the last call [S2-58]", () => {
    const last = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 3, thinkingTokens: 1 };
    const usage = { type: "thread/tokenUsage/updated", data: { ...ofTurn, usage: last, last } };
    expect(newsOf(usage)).toMatchObject([
      { type: "task:token_usage", input: 5, output: 2, cached_input: 3, reasoning: 1 },
    ]);
  });

  test("reports the state of its thread [S2-59]", () => {
    const status = { type: "thread/status/changed", data: { threadId: "th", status: { type: "idle" } } };
    expect(newsOf(status)).toMatchObject([
      { type: "task:thread_status", status: "idle", old_status: "active", new_status: "idle" },
    ]);
  });

  test("reports that another model works [S2-60]", () => {
    const data = { ...ofTurn, fromModel: "a", toModel: "b", reason: "full" };
    const [news] = newsOf({ type: "model/rerouted", data });
    expect(news).toMatchObject({ type: "task:model_rerouted", notification: { toModel: "b" } });
    expect(news?.extra.thread_context).toMatchObject({ model: "b" });
  });

  test("reports an error of the agent [S2-61]", () => {
    const data = { ...ofTurn, error: { message: "busy" }, willRetry: true };
    expect(newsOf({ type: "error", data })).toMatchObject([
      { type: "task:backend_error", notification: { willRetry: true } },
    ]);
  });

  test("reports what the agent warns of [S2-62]", () => {
    const warning = (reason: string) => ({ type: "warning", data: { threadId: "th", message: "m", reason } });
    expect(
      newsOf(warning("deprecation"), warning("configuration"), warning("other")).map(({ type, status }) => [
        type,
        status,
      ]),
    ).toEqual([
      ["task:backend_warning", "deprecation"],
      ["task:backend_warning", "config"],
    ]);
  });

  test("is silent about text and output as they stream [S2-51]", () => {
    const delta = { ...ofTurn, itemId: "i", delta: "x", offset: 0 };
    const types = ["agentMessage/delta", "reasoning/textDelta", "commandExecution/outputDelta"];
    expect(newsOf(...types.map((type) => ({ type: `item/${type}`, data: delta })))).toEqual([]);
  });

  test("always has all ten fields of its context, also in a heartbeat [S2-65]", () => {
    const news = new TurnNews(state(), "reviewer");
    const { extra } = news.heartbeat(30, NOW);
    expect(Object.keys(extra.thread_context as object).sort()).toEqual(
      [
        ...["active_turn_id", "has_active_steer", "last_turn_event_at", "model", "owner_role", "provider"],
        ...["run_id", "thread_id", "thread_status", "turn_sequence"],
      ].sort(),
    );
    expect(extra.thread_context).toMatchObject({ owner_role: "reviewer" });
  });

  test("has an active steer from the user's message until its end", () => {
    const steer = item({ type: "userMessage", content: [], clientId: "somebody" });
    const [, during] = newsOf(steer, { type: "turn/diff/updated", data: { ...ofTurn, diff: "" } });
    expect(during?.extra.thread_context).toMatchObject({ has_active_steer: true });
  });

  test("that another agent takes over is reported [S2-63]", () => {
    const seen: News[] = [];
    const news = new RunNews({ publish: (each) => seen.push(each) }, () => NOW);
    const first = state();
    const started = event({ type: "turn/started", data: { threadId: "th", turn } });
    news.onEvent(first, "executor", started);
    news.onEvent({ ...first, executor: 1 }, "executor", started);
    news.stop();
    expect(seen.map(({ type }) => type)).toEqual(["task:turn", "task:execution_fallback", "task:turn"]);
    expect(seen[1]).toMatchObject({ fallback_model: "codex", failed_thread_id: "th" });
    expect(seen.every(({ type }) => NEWS_TYPES.includes(type))).toBe(true);
  });
});
