import {
  type EventBody,
  emptyThread,
  type PublishedEvent,
  PublishedEventType,
  type TaskEventBody,
  type TaskState,
  type Thread,
  type ThreadContext,
} from "@flint/protocol";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { executing, NOW } from "../testing/task.ts";
import { RunEvents } from "./run-events.ts";
import { TurnEvents } from "./turn-events.ts";

const ofTurn = { threadId: "th", turnId: "tu" };
const turn = { id: "tu", status: "inProgress" as const, items: [], startedAt: 1 };

const state = (): TaskState => executing({ executors: [{ model: "claude/opus" }, { model: "codex" }] });

/** Returns the events published for these events, after a turn has started. */
function newsOf(...events: readonly object[]): PublishedEvent[] {
  const news = new TurnEvents(state(), "executor", { turns: 0 }, NOW);
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
    const news = new TurnEvents(state(), "executor", { turns: 0 }, NOW);
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
    const long = "x".repeat(1000);
    const message = { type: "agentMessage", text: long };
    const thought = { type: "reasoning", summary: long, content: "all of it" };
    const script = { ...command, command: long };
    const [ran, changed, said, meant, longer] = newsOf(
      ...[item(command), item(change), item(message), item(thought), item(script)],
    );
    expect(ran).toMatchObject({ command: "ls", exit_code: 0, duration_ms: 3 });
    expect(ran?.extra).toMatchObject({ command: "ls", status: "completed", exit_code: 0, duration_ms: 3 });
    expect(ran?.command_actions).toEqual([{ type: "listFiles" }]);
    expect(JSON.stringify(ran)).not.toContain("secret");
    expect(changed).toMatchObject({ files: ["a"] });
    for (const text of [said?.text, meant?.reasoning, longer?.command]) {
      expect(text).toHaveLength(500);
      expect(text).toMatch(/^x+/);
    }
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
    const total = { inputTokens: 50, outputTokens: 20, cacheReadTokens: 30, thinkingTokens: 10 };
    const usage = { type: "thread/tokenUsage/updated", data: { ...ofTurn, usage: total, last } };
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

  test("always has all ten fields of its context, with values [S2-65]", () => {
    const { news, seen } = observed();
    const reviewing = { ...state(), spec: { ...state().spec, reviewers: [{ model: "codex" }] } };
    news.onThread(reviewing, "reviewer", thread("codex/gpt", "openai"), false);
    news.onEvent(reviewing, "reviewer", started);
    news.stop();
    expect(seen[0]).toMatchObject({ plan_id: "task-1", id: "task-1" });
    expect(seen[0]?.thread_context).toEqual({
      ...{ thread_id: "th", thread_status: "active", active_turn_id: "tu" },
      ...{ last_turn_event_at: "2027-01-15T08:00:00Z", owner_role: "reviewer", model: "codex/gpt" },
      ...{ provider: "openai", has_active_steer: false, run_id: "run1", turn_sequence: 1 },
    });
    expect(seen[0]?.extra.thread_context).toEqual(seen[0]?.thread_context);
  });

  test("goes on with heartbeats until its end, which have the context of the turn [S2-64] [S2-65]", () => {
    vi.useFakeTimers({ now: NOW });
    onTestFinished(() => void vi.useRealTimers());
    const { news, seen } = observed(() => Date.now());
    news.onThread(state(), "executor", thread("claude/opus", "anthropic"), false);
    news.onEvent(state(), "executor", started);
    vi.advanceTimersByTime(65_000);
    const [turnStarted, ...beats] = seen.splice(0);
    news.onEvent(state(), "executor", event({ type: "turn/completed", data: { threadId: "th", turn } }));
    vi.advanceTimersByTime(65_000);
    expect(seen.map(({ type }) => type)).toEqual(["task:turn"]);
    expect(beats.map(({ type, status, elapsed_seconds }) => [type, status, elapsed_seconds])).toEqual([
      ["task:heartbeat", "working", 30],
      ["task:heartbeat", "working", 60],
    ]);
    for (const beat of beats) expect(beat.thread_context).toEqual(turnStarted?.thread_context);
  });

  test("counts its turns over both roles of the run", () => {
    const { news, seen } = observed();
    for (const role of ["executor", "reviewer", "executor"] as const) news.onEvent(state(), role, started);
    news.stop();
    expect(seen.map((each) => contextOf(each)?.turn_sequence)).toEqual([1, 2, 3]);
  });

  test("reports the status of a thread that was resumed for it [S2-59]", () => {
    const { news, seen } = observed();
    news.onThread(state(), "executor", thread("claude/opus", "anthropic"), true);
    const status = { old_status: "notLoaded", new_status: "idle", thread_id: "th" };
    expect(seen).toMatchObject([{ type: "task:thread_status", status: "idle", ...status }]);
    expect(contextOf(seen[0])).toMatchObject({ thread_id: "th", thread_status: "idle", turn_sequence: 1 });
  });

  test("has an active steer from a message that is sent while it runs until its end [S2-65]", () => {
    const message = (clientId: string) => item({ type: "userMessage", content: [], clientId });
    const diff = { type: "turn/diff/updated", data: { ...ofTurn, diff: "" } };
    const completed = { type: "turn/completed", data: { threadId: "th", turn } };
    const news = newsOf(message("task-1:1"), diff, message("somebody"), diff, completed);
    expect(news.map((each) => contextOf(each)?.has_active_steer)).toEqual([false, false, true, true, false]);
  });
});

describe("another agent that takes over a role", () => {
  const fallback = { role: "executor", index: 1, reason: "Its usage limit is reached." } as const;

  test("is reported when the first one failed, and again with its thread [S2-63]", () => {
    const { news, seen } = observed();
    news.onThread(state(), "executor", thread("claude/opus", "anthropic"), false);
    news.onFallback({ ...state(), executor: 1 }, fallback);
    news.onThread({ ...state(), executor: 1 }, "executor", thread("codex", "openai", "th2"), false);
    const both = { failed_thread_id: "th", fallback_model: "codex", reason: fallback.reason };
    expect(seen).toMatchObject([
      { type: "task:execution_fallback", status: "retrying", ...both },
      { type: "task:execution_fallback", status: "started", ...both, fallback_thread_id: "th2" },
    ]);
    expect(seen.map((each) => contextOf(each)?.provider)).toEqual(["anthropic", "openai"]);
    expect(seen.every(({ type }) => PublishedEventType.safeParse(type).success)).toBe(true);
  });

  test("is reported for reviewers too, also if the first one could open no thread [S2-63]", () => {
    const { news, seen } = observed();
    const spec = { ...state().spec, reviewers: [{ model: "codex" }, { model: "claude" }] };
    const reviewing = { ...state(), spec, reviewer: 1 };
    news.onFallback(reviewing, { ...fallback, role: "reviewer" });
    news.onThread(reviewing, "reviewer", thread("claude", "anthropic"), false);
    const [retrying, tookOver] = seen;
    expect(retrying).toMatchObject({ status: "retrying", failed_thread_id: null, fallback_model: "claude" });
    expect(contextOf(retrying)).toMatchObject({ owner_role: "reviewer", model: "codex" });
    expect(tookOver).toMatchObject({ status: "started", fallback_thread_id: "th" });
  });

  test("in a later run is reported with what the log says about the first one [S2-63]", () => {
    const turnOf = (threadId: string): TaskEventBody => ({
      type: "round/turn",
      data: { role: "executor", turn: { threadId } },
    });
    const failed: TaskEventBody[] = [turnOf("th1"), { type: "task/fallback", data: fallback }];
    const statusesAfter = (log: readonly TaskEventBody[]) => {
      const { news, seen } = observed(undefined, { ...state(), executor: 1 }, log);
      news.onThread({ ...state(), executor: 1 }, "executor", thread("codex", "openai", "th2"), false);
      return seen.map(({ status, failed_thread_id }) => [status, failed_thread_id]);
    };
    expect(statusesAfter(failed)).toEqual([["started", "th1"]]);
    // It had its thread in the run before.
    expect(statusesAfter([...failed, turnOf("th2")])).toEqual([]);
  });
});

const started = event({ type: "turn/started", data: { threadId: "th", turn } });

/** The events of a run, and what observes it. */
function observed(now = () => NOW, first = state(), log: readonly TaskEventBody[] = []) {
  const seen: PublishedEvent[] = [];
  return { seen, news: new RunEvents({ publish: (each) => seen.push(each) }, now, first, log) };
}

function thread(model: string, modelProvider: string, id = "th"): Thread {
  return { ...emptyThread(id).thread, model, modelProvider, status: { type: "idle" } };
}

function contextOf(news: PublishedEvent | undefined) {
  // Written by the class under test.
  return news?.thread_context as ThreadContext | undefined;
}
