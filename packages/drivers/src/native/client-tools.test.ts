import { writeFileSync } from "node:fs";
import { clientTool } from "@flint/agent/loop";
import { callTool, RecordedTurn, settingsIn } from "@flint/agent/testing";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ClientTool, ToolCallResult } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { sessionSpec } from "../testing/session-spec.ts";
import { NativeDriver } from "./driver.ts";
import { turnsOf } from "./testing/session-fixture.ts";

const LAMP: ClientTool = {
  name: "lamp",
  namespace: "house",
  description: "Switches a lamp.",
  inputSchema: { type: "object", properties: { room: { type: "string" } } },
};
const LIT: ToolCallResult = { success: true, content: [{ type: "text", text: "The hall is lit." }] };

test("runs a client's tool as an item and returns its result to the model [S2-76]", async () => {
  const folder = await temporaryFolder();
  const settings = { ...settingsIn(folder.path), model: "flint/offline" };
  const script = folder.join("script.json");
  const steps = [[{ call: "house__lamp", input: { room: "hall" } }], [{ text: "Done." }]];
  writeFileSync(script, JSON.stringify(steps));
  const sandbox = new CommandSandbox({ environment: process.env });
  const driver = new NativeDriver({ offlineScript: script });
  const session = await driver.open(sessionSpec(settings, sandbox, { clientTools: [LAMP] }));
  onTestFinished(() => session.close());
  const { turn, outcome } = await turnsOf(session, settings).run("go", { runTool: () => LIT });
  expect(outcome).toEqual({ status: "completed" });
  const [item] = turn.completed("toolCall");
  expect(item).toMatchObject({ tool: "house__lamp", arguments: { room: "hall" }, status: "completed" });
  expect(item?.result).toBe("The hall is lit.");
  expect(turn.toolCalls).toEqual([
    { itemId: item?.id, tool: "lamp", namespace: "house", arguments: { room: "hall" } },
  ]);
});

test("returns the error of a failed client tool to the model", async () => {
  const folder = await temporaryFolder();
  const failed: ToolCallResult = { success: false, content: [{ type: "text", text: "No such room." }] };
  const called = await callTool(clientTool(LAMP), { room: "attic" }, folder, { runTool: () => failed });
  expect([called.status, called.text]).toEqual(["failed", "No such room."]);
  expect(called.turn.completed("toolCall")).toMatchObject([{ status: "failed", error: "No such room." }]);
});

test("names an image by its URL, and never sends its bytes", async () => {
  const folder = await temporaryFolder();
  const urls = ["https://host.example/a.png", "data:image/png;base64,AAAA"];
  const shown: ToolCallResult = {
    success: true,
    content: urls.map((url) => ({ type: "image", url }) as const),
  };
  const called = await callTool(clientTool(LAMP), {}, folder, { runTool: () => shown });
  expect(called.text).toBe("[image: https://host.example/a.png]\n[image]");
});

test("ends an open call with its turn", async () => {
  const folder = await temporaryFolder();
  const turn = new RecordedTurn("", settingsIn(folder.path));
  const sandbox = new CommandSandbox({ environment: process.env });
  const context = { turn, signal: turn.signal, sandbox, itemId: "item" };
  const ended = clientTool(LAMP).run({}, context);
  turn.stop.abort();
  expect(await ended).toEqual({ ended: { status: "interrupted" } });
});
