import { PriceList } from "@flint/agent/prices";
import type { DriverEvent } from "@flint/core/ports";
import { mintId } from "@flint/protocol";
import { lifecycleFaults, streamFaults } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { openFixture } from "./testing/acp-fixture.ts";

const COMPLETED = { status: "completed" };
const extensions = (events: readonly DriverEvent[]) =>
  events.flatMap((event) => (event.type === "extension" ? [event.method] : []));
const echoed = (answer: string): Record<string, unknown> => JSON.parse(answer);

describe("updates", () => {
  test("translates every kind of update to an item, a plan or an extension, in order", async () => {
    const { run } = await openFixture();
    const { turn, outcome } = await run("everything");
    expect(outcome).toEqual(COMPLETED);
    expect(lifecycleFaults(turn.events, true)).toEqual([]);
    expect(streamFaults(turn.events)).toEqual([]);
    expect(turn.completedItems.map(({ type }) => type)).toEqual([
      "toolCall",
      "fileChange",
      "webSearch",
      "contextCompaction",
      "plan",
    ]);
    expect(extensions(turn.events)).toEqual([
      "generic/current_mode_update",
      "generic/session_info_update",
      "generic/hologram_update",
    ]);
  });

  test("reports usage and cost of a turn once, without those of earlier turns", async () => {
    const { run } = await openFixture();
    const usage = async () => (await run("text")).turn.events.filter((event) => event.type === "usage");
    const last = { inputTokens: 6, outputTokens: 5, cacheReadTokens: 4 };
    const first = { type: "usage", last, modelContextWindow: 1000, cost: { amount: 0.5, currency: "USD" } };
    expect(await usage()).toEqual([first]);
    expect(await usage()).toEqual([{ type: "usage", last, modelContextWindow: 1000 }]);
  });

  test("has the cost of a turn by the configured price where its agent does not report it", async () => {
    const price = { input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 };
    const { run } = await openFixture({ prices: new PriceList(new Map([["default", { price }]])) });
    const usage = async () => (await run("text")).turn.events.filter((event) => event.type === "usage");
    const [reported] = await usage();
    expect(reported).not.toHaveProperty("estimate");
    expect(await usage()).toMatchObject([{ estimate: { amount: 16, currency: "USD" } }]);
  });

  test.each([
    ["counts on from what it had cost", 0.2, 0.3],
    ["counts from zero in another process", 5, 0.5],
  ])("reports the cost of a resumed session whose agent %s", async (_name, amount, expectedCost) => {
    const currency = "USD";
    const { run } = await openFixture({ nativeId: "fixture-1", nativeCost: { amount, currency } });
    const { turn } = await run("text");
    const cost = { amount: expect.closeTo(expectedCost), currency };
    expect(turn.events.filter(({ type }) => type === "usage")).toMatchObject([{ cost }]);
    expect(turn.events.filter(({ type }) => type === "costSoFar")).toMatchObject([{ cost }]);
  });

  test("reports what the session has cost, for a later process to count on from", async () => {
    const { run } = await openFixture();
    const sessions = async () => (await run("text")).turn.events.filter(({ type }) => type === "session");
    const [first, second] = [await sessions(), await sessions()];
    expect(first.at(-1)).toEqual({
      ...{ type: "session", nativeId: expect.any(String) },
      cost: { amount: 0.5, currency: "USD" },
    });
    expect(second).toEqual([]);
  });

  test("fails the turn with the reason on a refusal or an error, and runs the next", async () => {
    const { run } = await openFixture();
    expect((await run("refuse")).outcome).toMatchObject({ status: "failed", error: { message: /refused/ } });
    const failed = (await run("fail")).outcome;
    expect(failed).toMatchObject({ status: "failed", error: { message: /out of order/ } });
    expect((await run("text")).outcome).toEqual(COMPLETED);
  });

  test("reads a flood of text no faster than it can be stored", async () => {
    const { run } = await openFixture();
    let waited = 0;
    const ready = async () => {
      waited += 1;
    };
    const { turn, outcome } = await run("flood 4096", { other: { ready } });
    expect(outcome).toEqual(COMPLETED);
    expect(waited).toBeGreaterThan(5);
    expect(streamFaults(turn.events)).toEqual([]);
  });
});

describe("selectors", () => {
  test("sets the model, the mode and every option before the turn, and resets them later", async () => {
    const { run, driver, settings } = await openFixture();
    expect((await driver.models()).map(({ id }) => id)).toEqual([
      "fixture/default",
      "fixture/small",
      "fixture/large",
    ]);
    const options = await driver.options("fixture/default", { effort: "high" });
    expect(options.map(({ id, value }) => [id, value])).toEqual([
      ["effort", "high"],
      ["loud", "false"],
      ["mode", "ask"],
    ]);
    const config = { effort: "high", loud: "true", mode: "free" };
    const chosen = { ...settings, model: "fixture/large", config };
    const set = { model: "large", effort: "high", loud: true, mode: "free" };
    expect(echoed((await run("echo", { settings: chosen })).answer)).toMatchObject(set);
    const back = { model: "small", effort: "low", loud: false, mode: "ask" };
    expect(echoed((await run("echo")).answer)).toMatchObject(back);
  });

  test("sets an agent with only the older fields by their methods", async () => {
    const { driver, run, settings } = await openFixture({ flags: ["--legacy"] });
    expect((await driver.models()).map(({ id }) => id)).toContain("fixture/large");
    const { answer } = await run("echo", { settings: { ...settings, config: { mode: "free" } } });
    expect(echoed(answer)).toMatchObject({ mode: "free" });
  });

  test("fails the turn with the offered models for an unknown one", async () => {
    const { run, settings } = await openFixture();
    const { outcome } = await run("echo", { settings: { ...settings, model: "fixture/huge" } });
    expect(outcome).toMatchObject({ status: "failed", error: { message: /huge.*default, small, large/ } });
    expect((await run("text")).outcome).toEqual(COMPLETED);
  });

  test("refuses an autonomous mode under the approval policy always", async () => {
    const { run, settings } = await openFixture({ profile: { autonomousModes: ["free"] } });
    const free = { ...settings, config: { mode: "free" } };
    const strict = { ...free, approvalPolicy: "always" as const };
    expect((await run("echo", { settings: strict })).outcome).toMatchObject({
      status: "failed",
      error: { message: /does not ask in its mode free/ },
    });
    expect((await run("echo", { settings: free })).outcome).toEqual(COMPLETED);
  });
});

describe("the prompt", () => {
  test("includes images, files and MCP servers as far as the agent supports them", async () => {
    const { run, folder } = await openFixture({
      mcpServers: [
        { type: "stdio", name: "docs", command: "docs", args: ["-v"], env: { KEY: "v" } },
        { type: "http", name: "web", url: "http://localhost/", headers: {} },
      ],
    });
    const input = [
      { type: "image" as const, url: "data:image/png;base64,iVBORw0KGgo=" },
      { type: "mention" as const, name: "notes", path: "notes.txt" },
      { type: "image" as const, url: "https://example.org/a.png" },
      { type: "text" as const, text: "echo" },
    ];
    const { answer, turn } = await run("echo", { other: { input } });
    expect(echoed(answer)).toMatchObject({
      blocks: [
        { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
        { type: "resource_link", name: "notes", uri: `file://${folder.path}/notes.txt` },
        { type: "text", text: expect.stringContaining("not fetched from the web") },
        { type: "text", text: "echo" },
      ],
      mcp: [{ name: "docs", command: "docs", args: ["-v"], env: [{ name: "KEY", value: "v" }] }],
    });
    const notices = turn.events.filter((event) => event.type === "warning");
    expect(notices).toMatchObject([{ message: expect.stringContaining("web"), reason: "agent" }]);
  });

  test("begins with the handoff summary and the instructions, once", async () => {
    const settings = { developerInstructions: "Be brief." };
    const { run } = await openFixture({ handoffSummary: "User: hello", settings });
    const texts = async () => echoed((await run("echo")).answer).blocks;
    const text = (text: string) => ({ type: "text", text });
    expect(await texts()).toEqual([text("User: hello"), text("Be brief."), text("echo")]);
    expect(await texts()).toEqual([text("echo")]);
  });

  test("begins with the history if the agent lost its session", async () => {
    const history = [
      {
        id: mintId(),
        status: "completed" as const,
        items: [
          {
            type: "userMessage" as const,
            id: mintId(),
            content: [{ type: "text" as const, text: "Who am I?" }],
          },
          { type: "agentMessage" as const, id: mintId(), text: "Ada." },
        ],
      },
    ];
    const { run } = await openFixture({ nativeId: "lost", history });
    const [first] = Object(echoed((await run("echo")).answer).blocks);
    expect(first.text).toContain("User: Who am I?\nAgent: Ada.");
  });

  test("compacts with the agent's own command", async () => {
    const { run } = await openFixture();
    const { turn, outcome } = await run("", { other: { kind: "compact" } });
    expect(outcome).toEqual(COMPLETED);
    expect(turn.completedItems).toMatchObject([{ type: "contextCompaction", summary: "All of it." }]);
  });
});
