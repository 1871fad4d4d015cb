import { scriptedDriver } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { acpBench } from "../testing/setup.ts";
import { commandIn } from "./commands.ts";

const text = (value: string) => [{ type: "text" as const, text: value }];

async function twoAgents() {
  const claude = scriptedDriver({ id: "claude", scripts: (said) => [{ text: `claude: ${said}\n` }] });
  const codex = scriptedDriver({ id: "codex", scripts: (said) => [{ text: `codex: ${said}\n` }] });
  const bench = await acpBench({}, { drivers: [claude, codex] });
  return { ...bench, claude, codex };
}

describe("commands at the ACP door", () => {
  test("the commands there are include every agent [S3-16]", async () => {
    const { connect, path } = await twoAgents();
    const client = await connect();
    await client.begin(path);
    const [update] = await client.until(() => {
      const told = client.of("available_commands_update");
      return told.length > 0 ? told : undefined;
    });
    expect(update?.availableCommands.map(({ name }) => name)).toEqual([
      ...["claude", "codex", "duet", "model", "mode", "compact", "review"],
    ]);
  });

  test("a prompt goes to the agent that it names, which goes on with the conversation", async () => {
    const { connect, path, codex } = await twoAgents();
    const client = await connect();
    const session = await client.begin(path);
    await client.prompt(session, "hello");
    await client.prompt(session, "/codex and you?");
    expect(client.said).toContain("claude: hello");
    expect(codex.turns[0]?.input.at(-1)).toEqual({ type: "text", text: "and you?" });
    await client.prompt(session, "/claude");
    await client.prompt(session, "back again");
    expect(client.said).toContain("claude: back again");
  });

  test("in a duet the second agent reviews what the first did, in one prompt [S3-10]", async () => {
    const { connect, path, claude, codex } = await twoAgents();
    const client = await connect();
    const session = await client.begin(path);
    expect(await client.prompt(session, "/duet codex claude write a poem")).toEqual({
      stopReason: "end_turn",
    });
    expect(codex.turns[0]?.input).toEqual(text("write a poem"));
    expect(claude.turns[0]?.input.at(-1)).toMatchObject({
      text: expect.stringMatching(/write a poem[\s\S]*Correct what is wrong/),
    });
    expect(client.of("user_message_chunk")).toHaveLength(1);
  });

  test("models and modes are listed and chosen by command, without a turn", async () => {
    const { connect, path, codex } = await twoAgents();
    const client = await connect();
    const session = await client.begin(path);
    await client.prompt(session, "/model");
    expect(client.said).toContain("- codex/swift");
    await client.prompt(session, "/model codex/swift");
    await client.prompt(session, "/mode auto");
    await client.prompt(session, "go");
    expect(codex.turns[0]?.settings).toMatchObject({ model: "codex/swift", approvalPolicy: "never" });
    await expect(client.prompt(session, "/mode nonsense")).rejects.toMatchObject({ code: -32602 });
  });

  test("a review and a compaction are turns of their own", async () => {
    const { connect, path, claude } = await twoAgents();
    const client = await connect();
    const session = await client.begin(path);
    await client.prompt(session, "hello");
    expect(await client.prompt(session, "/review the tests")).toEqual({ stopReason: "end_turn" });
    expect(await client.prompt(session, "/compact")).toEqual({ stopReason: "end_turn" });
    expect(claude.turns.map(({ kind }) => kind)).toEqual(["prompt", "review", "compact"]);
  });

  test("work that runs out of steps goes on while its plan has steps left, a few times [S3-10, S3-27]", async () => {
    const fail = { message: "too many steps", errorInfo: "TurnLimitReached" };
    const plan = [
      { step: "one", status: "completed" as const },
      { step: "two", status: "pending" as const },
    ];
    const { connect, path, driver } = await acpBench({ scripts: () => [{ plan }, { fail }] });
    const client = await connect();
    expect(await client.prompt(await client.begin(path), "go")).toEqual({ stopReason: "max_turn_requests" });
    expect(driver.turns.map(({ input }) => input)).toEqual([
      text("go"),
      ...Array.from({ length: 5 }, () => text("continue")),
    ]);
    expect(client.of("user_message_chunk")).toHaveLength(5);
  });

  test("work that runs out of steps with nothing left to do ends [S3-27]", async () => {
    const fail = { message: "too many steps", errorInfo: "TurnLimitReached" };
    const plan = [{ step: "one", status: "completed" as const }];
    const { connect, path, driver } = await acpBench({ scripts: () => [{ plan }, { fail }] });
    const client = await connect();
    expect(await client.prompt(await client.begin(path), "go")).toEqual({ stopReason: "max_turn_requests" });
    expect(driver.turns).toHaveLength(1);
  });

  test.each([
    ["/claude do it", { name: "agent", agent: "claude", input: text("do it") }],
    ["/claude", { name: "agent", agent: "claude", input: [] }],
    ["/duet claude codex do it", { name: "duet", agents: ["claude", "codex"], input: text("do it") }],
    ["/duet codex do it", { name: "duet", agents: ["codex"], input: text("do it") }],
    ["/duet do it", { name: "duet", agents: [], input: text("do it") }],
    ["/compact", { name: "compact" }],
    ["/init", undefined],
    ["/etc/passwd is a file", undefined],
    ["what is /claude?", undefined],
  ])("%j is read as %j", (said, command) => {
    expect(commandIn(text(said), ["claude", "codex"])).toEqual(command);
  });
});
