import { Gate, ScriptedDriver, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const DOWN = "\u001b[B";
const TAB = "\t";
const ALT_N = "\u001bn";
const ALT_V = "\u001bv";
const ALT_O = "\u001bo";

test("selectors of the agent are controls, and a choice is set for the thread [S0-101]", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "ok" }]] });
  await session.keys("hi", ENTER, "/settings", ENTER);
  const screen = session.terminal.screen.join("\n");
  expect(screen).toContain("Agent settings");
  expect(screen).toContain("Thinking: ");
  await session.keys(ENTER);
  expect(session.terminal.screen.join("\n")).not.toBe(screen);
  const other = await session.connect();
  const { data } = await other.listThreads();
  expect(await other.configList(data[0]?.id)).toMatchObject([
    { id: "thinking", value: "true" },
    { id: "effort", value: "low" },
  ]);
});

test("what is chosen before the first prompt is shown, and reaches the first turn [S0-101]", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "ok" }]] });
  await session.keys("/settings", ENTER);
  const before = session.terminal.screen.find((row) => row.includes("Thinking: "));
  await session.keys(ENTER);
  const after = session.terminal.screen.find((row) => row.includes("Thinking: "));
  expect(after).not.toBe(before);
  await session.keys(ESCAPE, "go", ENTER);
  expect(session.engine.driver.sessions[0]?.turns[0]?.settings.config).toMatchObject({ thinking: "true" });
});

test("a selector that is a number is shown, typed, and kept within its bounds [S0-101]", async () => {
  const heat = { type: "number" as const, id: "heat", name: "Heat", options: [], min: 0, max: 1, step: 0.1 };
  const driver = new ScriptedDriver({
    scripts: [[{ text: "ok" }], [{ text: "ok" }]],
    selectors: (_, { heat: value = "0.3" }) => [{ ...heat, value }],
  });
  const session = await SessionFixture.open({ engine: testEngine({ driver }) });
  await session.keys("hi", ENTER, "/settings", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("▸ Heat: 0.3");
  await session.keys(ENTER);
  expect(session.terminal.screen.join("\n")).toContain("› /settings heat 0.3");
  await session.keys("\u007f5", ENTER, ESCAPE);
  await session.keys("again", ENTER);
  expect(driver.sessions[0]?.turns[1]?.settings.config).toEqual({ heat: "0.5" });
  await session.keys("/settings heat 2", ENTER);
  expect(session.terminal.everything).toContain('"2" is not a value of heat. Known: numbers from 0 up to 1.');
});

test("the model picker lists what the agents offer, and the choice applies from the next turn [S0-101]", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "ok" }]] });
  await session.keys("/model", ENTER);
  const listed = session.terminal.screen.join("\n");
  for (const model of ["scripted/steady", "scripted/swift"]) expect(listed).toContain(model);
  await session.keys(DOWN, ENTER);
  expect(session.terminal.screen.join("\n")).toContain("The next turn uses scripted/swift.");
  await session.keys("go", ENTER);
  expect(session.engine.driver.sessions[0]?.turns[0]?.settings.model).toBe("scripted/swift");
});

test("the model picker shows what is known of a model", async () => {
  const driver = new ScriptedDriver();
  const [steady] = await driver.models();
  if (steady === undefined) throw new Error("no model");
  const price = { input: 1.25, output: 10 };
  driver.models = async () => [{ ...steady, meta: { contextWindow: 400_000, price } }];
  const session = await SessionFixture.open({ driver });
  await session.keys("/model", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("400K tokens of context. $1.25 in, $10 out");
});

test("what an agent says about a model is shown whole for the selected one", async () => {
  const description = `${"It answers sooner than the others do. ".repeat(4)}It needs no API key or network.`;
  const models = [
    { id: "scripted/one", displayName: "One", description, isDefault: true },
    { id: "scripted/two", displayName: "Two", isDefault: false },
  ];
  const session = await SessionFixture.open({
    engine: testEngine({ driver: new ScriptedDriver({ models }) }),
  });
  const words = () => session.terminal.screen.join(" ").replaceAll(/\s+/g, " ");
  for (const typed of ["/model", "/agent"]) {
    await session.keys(typed, ENTER);
    expect(words()).toContain(description);
    if (typed === "/agent") expect(words()).toContain("scripted ✓ 2 models; One: It answers sooner");
    else {
      await session.keys(DOWN);
      expect(words()).not.toContain("It needs no API key");
    }
    await session.keys(ESCAPE);
  }
});

test("permissions are a menu that says what each choice means", async () => {
  const session = await SessionFixture.open();
  await session.keys("/permissions", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("plan  read only");
  await session.keys(DOWN, ENTER);
  expect(session.terminal.screen.join("\n")).toContain("Permissions: plan");
});

test("Enter steers the running turn and Tab queues for later", async () => {
  const session = await SessionFixture.open({
    scripts: [[{ untilSteered: true }, { text: "steered" }], [{ text: "later" }]],
  });
  await session.keys("work", ENTER, "second", TAB);
  expect(session.terminal.screen.join("\n")).toContain("○ queued: second");
  await session.keys("left a bit", ENTER);
  expect(session.terminal.everything).toContain("› left a bit");
  expect(session.terminal.everything).toContain("steered");
  expect(session.terminal.everything).toContain("› second");
  expect(session.terminal.everything).toContain("later");
});

test("what steers a turn is seen at once below the running command, and stays once", async () => {
  const gate = new Gate();
  const session = await SessionFixture.open({
    scripts: [[{ command: "make", asks: false, until: gate }, { text: "Built." }]],
  });
  await session.keys("build it", ENTER, "quickly", ENTER);
  expect(session.terminal.screen.join("\n")).toMatch(/\$ make.*\n(?:\n)?› quickly\n/);
  gate.open();
  await session.settle();
  expect(session.terminal.everything.split("› quickly").length - 1).toBe(1);
  expect(session.terminal.everything).toContain("Built.");
});

test("a queued input can be reordered, removed and edited without stopping the turn", async () => {
  const gate = new Gate();
  const session = await SessionFixture.open({ scripts: [[{ wait: gate }]] });
  await session.keys("work", ENTER, "one", TAB, "two", TAB, "/queue", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("Queued inputs");
  await session.keys("d");
  const queued = () => session.terminal.screen.filter((row) => row.includes("queued:"));
  expect(queued()).toEqual(["○ queued: two", "○ queued: one"]);
  await session.keys(ENTER);
  expect(queued()).toEqual(["○ queued: two"]);
  expect(session.terminal.screen.join("\n")).toContain("› one");
  expect(session.terminal.screen.join("\n")).toContain("Esc to interrupt");
});

test("Escape twice goes back to an earlier prompt", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "A" }], [{ text: "B" }], [{ text: "C" }]] });
  await session.keys("first", ENTER, "second", ENTER, ESCAPE, ESCAPE);
  expect(session.terminal.screen.join("\n")).toContain("Rewind to before which prompt?");
  await session.keys(ENTER);
  expect(session.terminal.screen.join("\n")).toContain("Keep the files as they are");
  await session.keys(ENTER);
  expect(session.terminal.everything).toContain("1 turn removed, files kept. Undo with /undo.");
  expect(session.terminal.screen.join("\n")).toContain("› second");
});

test("a question of the agent is answered by the number of an option", async () => {
  const questions = [{ id: "q", question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] }];
  const session = await SessionFixture.open({ scripts: [[{ ask: questions }]] });
  await session.keys("paint", ENTER, "2", ENTER);
  expect(session.engine.driver.sessions[0]?.turns[0]?.answers).toEqual([{ q: { answers: ["blue"] } }]);
});

test("the thread list shows live status and opens a thread", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "A" }]] });
  await session.keys("first prompt", ENTER, "/new", ENTER, "/threads", ENTER);
  expect(session.terminal.isAlternate).toBe(true);
  expect(session.terminal.screen.join("\n")).toContain("first prompt");
  await session.keys("r", "better name", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("better name");
  await session.keys("p");
  expect(session.notes.get("pins")).toMatch(/\S/);
  await session.keys(ENTER);
  expect(session.terminal.isAlternate).toBe(false);
  expect(session.terminal.everything).toContain("A");
});

test("the thread list says which threads wait, run and failed, at once when that changes", async () => {
  const gate = new Gate();
  const scripts = [[{ fail: { message: "no credit" } }], [{ command: "make" }], [{ wait: gate }]];
  const session = await SessionFixture.open({ columns: 110, scripts });
  const other = await session.connect({ onApproval: () => new Promise(() => undefined) });
  await session.keys("/threads", ENTER);
  for (const prompt of ["broken", "asking", "busy"]) {
    const thread = await other.startThread({});
    void thread.run(prompt, { allowFailure: true });
    await session.settle();
  }
  const rows = () => session.terminal.screen.join("\n");
  expect(rows()).toContain("Threads  1 waiting for you · 1 running · 1 failed");
  expect(rows()).toMatch(/✗ failed +\S+ +broken/);
  expect(rows()).toMatch(/! waiting for you +\S+ +asking/);
  expect(rows()).toMatch(/● running +\S+ +busy/);
  gate.open();
  await session.settle();
  expect(rows()).not.toContain("1 running");
});

test("the status line counts what other threads need, and keys go to them and back", async () => {
  const gate = new Gate();
  const scripts = [[{ text: "mine" }], [{ fail: { message: "no credit" } }], [{ wait: gate }, { text: "B" }]];
  const session = await SessionFixture.open({ columns: 110, scripts });
  await session.keys("home", ENTER);
  const other = await session.connect();
  for (const prompt of ["broken", "busy"]) {
    const thread = await other.startThread({});
    void thread.run(prompt, { allowFailure: true });
    await session.settle();
  }
  const last = () => session.terminal.screen.findLast((row) => row.trim() !== "") ?? "";
  expect(last()).toContain("elsewhere 1 failed, 1 running (Alt+N)");
  await session.keys(ALT_N);
  expect(session.terminal.everything).toContain("no credit");
  expect(last()).toContain("elsewhere 1 running (Alt+N)");
  await session.keys(ALT_N);
  expect(session.terminal.everything).toContain("› busy");
  expect(last()).not.toContain("elsewhere");
  await session.keys(ALT_O);
  expect(last()).toContain("elsewhere 1 running");
  gate.open();
  await session.settle();
  expect(last()).not.toContain("elsewhere");
  await session.keys(ALT_N);
  expect(last()).toContain("No other thread needs you.");
});

test("/copy copies the last code block, or a message that the user chooses", async () => {
  const text = "Do this:\n\n```sh\nmake\n```\n\nThen that:\n\n```sh\nmake test\n```\n";
  const session = await SessionFixture.open({ rows: 40, scripts: [[{ text }]] });
  const copied = () => {
    const [last = ""] = session.terminal.writes.join("").split("]52;c;").at(-1)?.split("\u0007") ?? [];
    return Buffer.from(last, "base64").toString();
  };
  await session.keys("how?", ENTER, "/copy code", ENTER);
  expect(copied()).toBe("make test\n");
  await session.keys("/copy choose", ENTER);
  const screen = session.terminal.screen.join("\n");
  expect(screen).toMatch(/▸ Code: make test\n {2}Code: make\n {2}Answer: Do this: .*lines\n {2}You: how\?/);
  await session.keys("\u001b[B", ENTER);
  expect(copied()).toBe("make\n");
  expect(session.terminal.screen.join("\n")).toContain("Copied 5 characters.");
});

test("the theme is used at once and saved for later sessions", async () => {
  const coloured = (session: SessionFixture, from = 0) =>
    session.terminal.writes.slice(from).join("").includes("\u001b[36m");
  const session = await SessionFixture.open();
  expect(coloured(session)).toBe(true);
  await session.keys("/theme", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("▸ auto ✓");
  await session.keys("\u001b", "/theme plain", ENTER);
  expect(session.config.get("theme")).toBe("plain");
  const before = session.terminal.writes.length;
  await session.keys("x");
  expect(coloured(session, before)).toBe(false);
  await session.keys("\u0003", "/theme pink", ENTER);
  expect(session.terminal.screen.join("\n")).toContain(
    "pink is not a theme. Themes: auto, dark, light, plain.",
  );
  expect(coloured(await SessionFixture.open({ theme: "plain" }))).toBe(false);
});

test("the status line shows what the user chooses, now and in later sessions", async () => {
  const session = await SessionFixture.open({ statusLine: ["branch", "folder", "agent"] });
  const last = () => session.terminal.screen.findLast((row) => row.trim() !== "")?.trim();
  expect(last()).toBe("main · /code · scripted");
  await session.keys("/statusline model, help", ENTER);
  expect(last()).toBe("scripted/steady · F1 for help");
  expect(session.config.get("status_line")).toEqual(["model", "help"]);
  await session.keys("/statusline", ENTER, ENTER, "\u001b");
  expect(session.config.get("status_line")).toEqual(["help"]);
  expect(last()).toBe("F1 for help");
  await session.keys("/statusline weather", ENTER);
  expect(last()).toContain("weather is not part of a status line. Parts: threads, agent");
  await session.keys("/statusline default", ENTER);
  expect(last()).toBe("scripted/steady · ask · F1 for help");
});

test("an image is opened with a key and never without, and of several the user chooses", async () => {
  const session = await SessionFixture.open({
    scripts: [[{ text: "Yes?" }], [{ text: "A cat." }], [{ text: "A dog." }]],
  });
  const other = await session.connect();
  await session.keys("look at this", ENTER);
  const { data } = await other.listThreads();
  const thread = await other.attachThread(data[0]?.id ?? "");
  await thread.run([{ type: "localImage", path: "/code/cat.png" }]);
  await session.settle();
  expect(session.opened).toEqual([]);
  await session.keys(ALT_V);
  expect(session.opened).toEqual(["/code/cat.png"]);
  expect(session.terminal.screen.join("\n")).toContain("Opened /code/cat.png");
  await thread.run([{ type: "localImage", path: "/code/dog.png" }]);
  await session.keys(ALT_V);
  expect(session.terminal.screen.join("\n")).toMatch(/▸ dog\.png +\/code\/dog\.png\n +cat\.png/);
  await session.keys(DOWN, ENTER);
  expect(session.opened).toEqual(["/code/cat.png", "/code/cat.png"]);
});

test("an approval that waits in another thread is announced, and answered in the inbox", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  const other = await session.connect({ onApproval: () => new Promise(() => undefined) });
  const thread = await other.startThread({});
  void thread.run("elsewhere", { allowFailure: true });
  await session.settle();
  expect(session.terminal.screen.join("\n")).toContain("1 thread waiting for you");
  await session.keys("/inbox", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("$ make");
  await session.keys("y");
  expect(session.engine.driver.sessions[0]?.turns[0]?.decisions).toMatchObject([{ outcome: "allow" }]);
});

test("an approval that another client answers is shown as answered there", async () => {
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }]] });
  await session.keys("build", ENTER);
  const clientInfo = { name: "zed", title: "Zed", version: "1" };
  const other = await session.connect({ onApproval: () => "accept", clientInfo });
  const { data } = await other.listThreads();
  await other.attachThread(data[0]?.id ?? "");
  await session.settle();
  expect(session.terminal.everything).toContain("→ allowed once (answered in Zed)");
});

test("if two clients answer at once, the one whose answer counts is named", async () => {
  const ask = [{ id: "q", question: "Which?" }];
  const session = await SessionFixture.open({ scripts: [[{ command: "make" }, { ask }]] });
  await session.keys("build", ENTER);
  const clientInfo = { name: "zed", title: "Zed", version: "1" };
  const stays = () => new Promise<never>(() => undefined);
  const other = await session.connect({ onApproval: stays, onQuestion: stays, clientInfo });
  const threadId = (await other.listThreads()).data[0]?.id ?? "";
  const { approvals } = await other.call("thread/attach", { threadId, turns: 0 });
  const decision = { outcome: "deny", scope: "once" } as const;
  const denied = other.call("approval/respond", { threadId, approvalId: approvals[0]?.id ?? "", decision });
  session.terminal.type("y");
  await denied;
  await session.settle();
  const { questions } = await other.call("thread/attach", { threadId, turns: 0 });
  await session.keys("red");
  const answers = { q: { answers: ["blue"] } };
  const answered = other.call("question/respond", { threadId, questionId: questions[0]?.id ?? "", answers });
  session.terminal.type(ENTER);
  await answered;
  await session.settle();
  const { everything } = session.terminal;
  expect(everything).toContain("→ declined (answered in Zed)");
  expect(everything).toContain("→ answered in Zed");
  expect(everything).not.toContain("No open");
});

test("a prompt says from which client it came, unless that is a terminal", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "A" }], [{ text: "B" }]] });
  await session.keys("mine", ENTER);
  const other = await session.connect({ clientInfo: { name: "zed", title: "Zed", version: "1" } });
  const { data } = await other.listThreads();
  const thread = await other.attachThread(data[0]?.id ?? "");
  await thread.run("theirs");
  await session.settle();
  expect(session.terminal.everything.split("\n")).toEqual(
    expect.arrayContaining(["› mine", "› theirs  from Zed"]),
  );
  await session.keys("/transcript", ENTER);
  expect(session.terminal.screen).toEqual(expect.arrayContaining(["› mine", "› theirs  from Zed"]));
});

test("the help page lists every command with its keys", async () => {
  const session = await SessionFixture.open({ rows: 200 });
  await session.keys("/help", ENTER);
  const page = session.terminal.screen.join("\n");
  expect(page).toContain("/rewind [turn]");
  expect(page).toContain("Esc Esc");
  await session.keys("q");
  expect(session.terminal.isAlternate).toBe(false);
});

test("the transcript shows the whole thread and finds text in it", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "needle in hay" }]] });
  await session.keys("look", ENTER, "/transcript", ENTER);
  expect(session.terminal.screen.join("\n")).toContain("needle in hay");
  await session.keys("/", "needle", ENTER, "q");
  expect(session.terminal.isAlternate).toBe(false);
});

test("the last answer is copied to the user's clipboard", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "the answer" }]] });
  await session.keys("ask", ENTER, "/copy", ENTER);
  expect(session.terminal.writes.join("")).toContain(
    `\u001b]52;c;${Buffer.from("the answer").toString("base64")}`,
  );
});

test("text of an agent never steers the terminal [P36]", async () => {
  const evil = "\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u009b5A\rback";
  const session = await SessionFixture.open({
    scripts: [[{ text: evil }, { command: evil, asks: true, output: [evil] }]],
  });
  await session.keys("go", ENTER, "y");
  const written = session.terminal.writes.join("");
  expect(
    ["\u001b]0;", "\u001b[2J", "\u001b[31mred", "\u009b"].filter((bad) => written.includes(bad)),
  ).toEqual([]);
  expect(session.terminal.everything).toContain("owned");
});
