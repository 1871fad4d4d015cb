import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import type { DriverEvent, DriverSession, McpServerConfig } from "@flint/core/ports";
import { CommandSandbox } from "@flint/core/sandbox";
import { type Decision, mintId, type SandboxPolicy, type ThreadSettings, type Turn } from "@flint/protocol";
import {
  leavesNoProcess,
  lifecycleFaults,
  needs,
  RecordingTurn,
  type RecordingTurnOptions,
  streamFaults,
  temporaryFolder,
} from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AcpProfile } from "./profiles.ts";
import { fixtureDriver } from "./testing/fixture.ts";

const COMPLETED = { status: "completed" };
const DENY: Decision = { outcome: "deny", scope: "once" };
const extensions = (events: readonly DriverEvent[]) =>
  events.flatMap((event) => (event.type === "extension" ? [event.method] : []));
const echoed = (said: string): Record<string, unknown> => JSON.parse(said);

describe("what an agent tells", () => {
  test("every kind of update is an item, a plan or an extension, in order and whole", async () => {
    const { run } = await openBench();
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
      "acp/available_commands_update",
      "acp/current_mode_update",
      "acp/session_info_update",
      "acp/notice",
      "acp/hologram_update",
    ]);
  });

  test("what a turn used and cost is told once, without what the turns before it cost", async () => {
    const { run } = await openBench();
    const usage = async () => (await run("text")).turn.events.filter((event) => event.type === "usage");
    const last = { inputTokens: 6, outputTokens: 5, cacheReadTokens: 4 };
    const first = { type: "usage", last, modelContextWindow: 1000, cost: { amount: 0.5, currency: "USD" } };
    expect(await usage()).toEqual([first]);
    expect(await usage()).toEqual([{ type: "usage", last, modelContextWindow: 1000 }]);
  });

  test("a refusal and a failure of the agent are failed turns that say why, and the next turn works", async () => {
    const { run } = await openBench();
    expect((await run("refuse")).outcome).toMatchObject({ status: "failed", error: { message: /refused/ } });
    const failed = (await run("fail")).outcome;
    expect(failed).toMatchObject({ status: "failed", error: { message: /out of order/ } });
    expect((await run("text")).outcome).toEqual(COMPLETED);
  });

  test("a flood of text is taken no faster than it can be stored", async () => {
    const { run } = await openBench();
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

describe("what is chosen", () => {
  test("the model, the mode and every option are set before the turn, and back when they are no longer wanted", async () => {
    const { run, driver, settings } = await openBench();
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
    expect(echoed((await run("echo", { settings: chosen })).said)).toMatchObject(set);
    const back = { model: "small", effort: "low", loud: false, mode: "ask" };
    expect(echoed((await run("echo")).said)).toMatchObject(back);
  });

  test("an agent with only the older fields is set by them", async () => {
    const { driver, run, settings } = await openBench({ flags: ["--legacy"] });
    expect((await driver.models()).map(({ id }) => id)).toContain("fixture/large");
    const { said } = await run("echo", { settings: { ...settings, config: { mode: "free" } } });
    expect(echoed(said)).toMatchObject({ mode: "free" });
  });

  test("a model that the agent does not offer fails the turn and names those it does", async () => {
    const { run, settings } = await openBench();
    const { outcome } = await run("echo", { settings: { ...settings, model: "fixture/huge" } });
    expect(outcome).toMatchObject({ status: "failed", error: { message: /huge.*default, small, large/ } });
    expect((await run("text")).outcome).toEqual(COMPLETED);
  });

  test("a mode without questions is refused where everything is to be asked about", async () => {
    const { run, settings } = await openBench({ profile: { modesWithoutAsking: ["free"] } });
    const free = { ...settings, config: { mode: "free" } };
    const strict = { ...free, approvalPolicy: "always" as const };
    expect((await run("echo", { settings: strict })).outcome).toMatchObject({
      status: "failed",
      error: { message: /does not ask in its mode free/ },
    });
    expect((await run("echo", { settings: free })).outcome).toEqual(COMPLETED);
  });
});

describe("what it is given", () => {
  test("pictures, files and MCP servers, as far as it takes them", async () => {
    const { run, folder } = await openBench({
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
    const { said, turn } = await run("echo", { other: { input } });
    expect(echoed(said)).toMatchObject({
      blocks: [
        { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
        { type: "resource_link", name: "notes", uri: `file://${folder.path}/notes.txt` },
        { type: "text", text: expect.stringContaining("not fetched from the web") },
        { type: "text", text: "echo" },
      ],
      mcp: [{ name: "docs", command: "docs", args: ["-v"], env: [{ name: "KEY", value: "v" }] }],
    });
    const notices = turn.events.filter(
      (event) => event.type === "extension" && event.method === "acp/notice",
    );
    expect(notices).toMatchObject([{ params: { title: expect.stringContaining("web") } }]);
  });

  test("what other agents did before, once, and what the user wants it to know", async () => {
    const settings = { developerInstructions: "Be brief." };
    const { run } = await openBench({ account: "User: hello", settings });
    const texts = async () => echoed((await run("echo")).said).blocks;
    const text = (words: string) => ({ type: "text", text: words });
    expect(await texts()).toEqual([text("User: hello"), text("Be brief."), text("echo")]);
    expect(await texts()).toEqual([text("echo")]);
  });

  test("the whole conversation, if it was to go on with a session that it lost", async () => {
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
    const { run } = await openBench({ nativeId: "lost", history });
    const [first] = Object(echoed((await run("echo")).said).blocks);
    expect(first.text).toContain("User: Who am I?\nAgent: Ada.");
  });

  test("a compaction is the command of the agent for it", async () => {
    const { run } = await openBench();
    const { turn, outcome } = await run("", { other: { kind: "compact" } });
    expect(outcome).toEqual(COMPLETED);
    expect(turn.completedItems).toMatchObject([{ type: "contextCompaction", summary: "All of it." }]);
  });
});

describe("permissions and questions", () => {
  test("a call that is announced only in its request is shown, asked once, and written", async () => {
    const { run, folder } = await openBench();
    const path = folder.join("sudden.txt");
    const { turn, said } = await run(`sudden ${path}`);
    expect(said).toBe("yes");
    expect(turn.actions).toMatchObject([{ kind: "fileChange", changes: [{ path, kind: "add" }] }]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "fileChange", status: "completed" }),
    );
    expect(await readFile(path, "utf8")).toBe("sudden\n");
  });

  test("a no is told to the agent, which does nothing, and the item is declined", async () => {
    const { run, folder } = await openBench();
    const { turn, said } = await run(`sudden ${folder.join("no.txt")}`, { decide: () => DENY });
    expect(said).toBe("no");
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "fileChange", status: "declined" }),
    );
  });

  test("a yes for the session is a yes to the one call, so that Flint and not the agent remembers it", async () => {
    const { run } = await openBench();
    const { said } = await run("run true", { decide: () => ({ outcome: "allow", scope: "session" }) });
    expect(said).toBe("Done.");
  });

  test("a form of the agent is asked field by field, and asked again where an answer does not fit", async () => {
    const { run } = await openBench();
    const answers = {
      name: { answers: ["Ada"] },
      age: { answers: ["36"] },
      colour: { answers: ["Green"] },
    };
    const { turn, said } = await run("elicit", { answers });
    expect(JSON.parse(said)).toEqual({ action: "accept", content: { name: "Ada", age: 36, colour: "g" } });
    expect(turn.questions).toMatchObject([
      [{ id: "name" }, { id: "age" }, { id: "colour", options: [{}, {}] }],
    ]);
    const unfit = { ...answers, age: { answers: ["old"] } };
    const again = await run("elicit", { answers: unfit });
    expect(JSON.parse(again.said)).toEqual({ action: "decline" });
    expect(again.turn.questions).toHaveLength(3);
    expect(again.turn.questions.at(-1)).toMatchObject([{ id: "age", question: /has to be a number/ }]);
  });
});

describe("files through Flint", () => {
  test("a file of the workspace is read, one outside is not", async () => {
    const { run, folder } = await openBench();
    await writeFile(folder.join("a.txt"), "the text\n");
    expect((await run(`read ${folder.join("a.txt")}`)).said).toBe("the text\n");
    expect((await run(`read ${folder.join("none.txt")}`)).said).toContain("error -32002");
    expect((await run("read /etc/passwd")).said).toContain("outside of the workspace");
  });

  test("a write is asked about with its exact difference, and done only if allowed", async () => {
    const { run, folder } = await openBench();
    const path = folder.join("new/b.txt");
    const denied = await run(`write ${path}`, { decide: () => DENY });
    expect(denied.said).toContain("error");
    expect(denied.turn.completedItems).toContainEqual(expect.objectContaining({ status: "declined" }));
    const { turn, said } = await run(`write ${path}`);
    const diff = "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,1 @@\n+written\n";
    expect(turn.actions).toMatchObject([{ kind: "fileChange", changes: [{ path, kind: "add", diff }] }]);
    expect(said).toBe("written");
    expect(await readFile(path, "utf8")).toBe("written\n");
  });

  test("what steers agents and what lies outside is not written, whatever the user would say", async () => {
    const { run, folder } = await openBench();
    for (const path of [folder.join(".git/hooks/pre-commit"), "/etc/flint-was-here"]) {
      const { turn, said } = await run(`write ${path}`);
      expect(said).toContain("error");
      expect(turn.actions).toEqual([]);
    }
  });

  needs("bwrap")("the sandbox of the thread holds for these writes too", async () => {
    const { run, folder } = await openBench({ policy: { type: "workspaceWrite" } });
    expect((await run(`write ${folder.join("fine.txt")}`)).said).toBe("written");
    expect((await run(`write ${folder.join(".git/config")}`)).said).toContain("could not be written");
    const closed = await openBench({ policy: { type: "readOnly" } });
    const { said, turn } = await closed.run(`write ${closed.folder.join("no.txt")}`);
    expect(said).toContain("readOnly");
    expect(turn.actions).toEqual([]);
  });
});

describe("commands through Flint", () => {
  test("run where the profile allows it, asked about, with their output in the call", async () => {
    const { run } = await openBench({ profile: { terminal: true } });
    const { turn, said } = await run("terminal echo one; echo two");
    expect(said).toBe("0 one\ntwo\n");
    expect(turn.actions).toMatchObject([{ kind: "command", command: "echo one; echo two" }]);
    expect(turn.completedItems).toContainEqual(
      expect.objectContaining({ type: "commandExecution", aggregatedOutput: "one\ntwo\n", exitCode: 0 }),
    );
  });

  test("do not run if the user says no, or if the profile does not allow it", async () => {
    const { run } = await openBench({ profile: { terminal: true } });
    expect((await run("terminal true", { decide: () => DENY })).said).toContain("error");
    const plain = await openBench();
    const { turn, said } = await plain.run("terminal true");
    expect(said).toContain("error -32601");
    expect(turn.actions).toEqual([]);
  });

  test("end with the turn", async () => {
    const { begin } = await openBench({ profile: { terminal: true } });
    const { turn, ended } = begin("terminal sleep 1000");
    await turn.waitFor((event) => event.type === "item/started");
    turn.stop();
    expect(await ended).toEqual({ status: "interrupted" });
  });
});

describe("an agent that fails", () => {
  test("and dies in a turn fails it once with its last words, and its session is taken up by the next [P24]", async () => {
    const { run } = await openBench();
    const { turn, outcome } = await run("crash");
    expect(outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("segmentation fault") },
    });
    const next = await run("text");
    expect(next.outcome).toEqual(COMPLETED);
    expect(next.said).toBe("Hello, loaded world.");
    const sessions = [turn, next.turn].map(({ events }) => events.filter(({ type }) => type === "session"));
    expect(sessions).toEqual([[{ type: "session", nativeId: expect.any(String) }], []]);
  });

  test("and says nothing is stopped after a while", async () => {
    const { run } = await openBench({ profile: { silenceMs: 100 } });
    expect((await run("silence")).outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("said nothing") },
    });
    expect((await run("text")).said).toBe("Hello, loaded world.");
  });

  test("and does not stop when asked is ended, and the next turn works", async () => {
    const { begin, run } = await openBench({ flags: ["--deaf"], profile: { cancelMs: 50 } });
    const { turn, ended } = begin("stream");
    await turn.waitFor((event) => event.type === "item/agentMessage/delta");
    turn.stop();
    expect(await ended).toEqual({ status: "interrupted" });
    expect((await run("text")).outcome).toEqual(COMPLETED);
    expect(turn.late).toEqual([]);
  });

  test("and prints lines that are no messages is given up at some time", async () => {
    const { run } = await openBench();
    expect((await run("garbage")).outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("lines that are no messages") },
    });
  });

  test("cannot be opened, and says why", async () => {
    const opening = (flag: string, profile = {}) => openBench({ flags: [flag], profile });
    await expect(opening("--exit")).rejects.toThrow(/exit code 3.*no configuration found/s);
    await expect(opening("--mute", { startMs: 100 })).rejects.toThrow(/"initialize" was not answered/);
    await expect(opening("--version-2")).rejects.toThrow(/speaks version 2/);
    await expect(opening("--login", { login: "fixture login" })).rejects.toThrow(
      "Fixture is not logged in. Run: fixture login. It offers: Set FIXTURE_KEY.",
    );
  });

  test("is logged in by the key that it was given", async () => {
    const keyLogin = { methodId: "fixture-key", variable: "FIXTURE_KEY" };
    const wish = { flags: ["--key-login"], profile: { keyLogin } };
    await expect(openBench({ ...wish, environment: { FIXTURE_KEY: "wrong" } })).rejects.toThrow(
      "not logged in",
    );
    const { run } = await openBench({ ...wish, environment: { FIXTURE_KEY: "right" } });
    expect((await run("text")).outcome).toEqual(COMPLETED);
  });
});

needs("bwrap")("the whole agent is held by the policy of the turn, also when that changes", async () => {
  const { run, folder, settings } = await openBench({ policy: { type: "readOnly" } });
  const outside = `/var/tmp/${basename(folder.path)}`;
  const tries = `run touch ${folder.join("in")}; touch ${outside}; ls ${folder.path} ${outside} 2>&1`;
  const printed = async (sandboxPolicy: typeof settings.sandboxPolicy) => {
    const { turn } = await run(tries, { settings: { ...settings, sandboxPolicy } });
    return turn.completedItems.flatMap((item) =>
      "aggregatedOutput" in item ? [item.aggregatedOutput] : [],
    )[0];
  };
  expect(await printed({ type: "readOnly" })).not.toMatch(/^in$/m);
  const writable = await printed({ type: "workspaceWrite" });
  expect(writable).toMatch(/^in$/m);
  expect(writable).toMatch(/No such file/);
});

/** How a scene of a test differs from the usual one. */
interface BenchOptions {
  readonly flags?: readonly string[];
  readonly profile?: Partial<AcpProfile>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: Partial<ThreadSettings>;
  readonly policy?: SandboxPolicy;
  readonly nativeId?: string;
  readonly history?: readonly Turn[];
  readonly account?: string;
  readonly mcpServers?: readonly McpServerConfig[];
}

type TurnWishes = Partial<Omit<RecordingTurnOptions, "text">> & {
  /** Other fields that the turn has. */
  readonly other?: object;
};

/** The fixture agent in a folder of its own, with a session that ends with the test. */
async function openBench(options: BenchOptions = {}) {
  leavesNoProcess();
  const folder = await temporaryFolder();
  const driver = fixtureDriver(options.flags, options.profile, options.environment);
  const settings: ThreadSettings = {
    model: "fixture/default",
    cwd: folder.path,
    approvalPolicy: "unlessTrusted",
    sandboxPolicy: options.policy ?? { type: "dangerFullAccess" },
    config: {},
    ...options.settings,
  };
  const session: DriverSession = await driver.open({
    threadId: mintId(),
    settings,
    nativeId: options.nativeId,
    history: async () => options.history ?? [],
    account: async () => options.account ?? "",
    sandbox: new CommandSandbox({ environment: process.env }),
    mcpServers: options.mcpServers ?? [],
  });
  onTestFinished(() => session.close());
  const begin = (text: string, { other, ...wishes }: TurnWishes = {}) => {
    const turn = new RecordingTurn({ text, settings, ...wishes });
    Object.assign(turn, other);
    return { turn, ended: session.run(turn).finally(() => turn.end()) };
  };
  const run = async (text: string, wishes: TurnWishes = {}) => {
    const { turn, ended } = begin(text, wishes);
    const outcome = await ended;
    return { turn, outcome, said: saidIn(turn) };
  };
  return { driver, session, settings, folder, begin, run };
}

/** All that an agent said in a turn. */
function saidIn({ completedItems }: RecordingTurn): string {
  return completedItems
    .flatMap((item) => (item.type === "agentMessage" ? [String(Reflect.get(item, "text"))] : []))
    .join("");
}
