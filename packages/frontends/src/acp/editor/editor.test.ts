import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerOptions } from "@flint/server";
import { TestClock, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { TestEditor } from "../testing/editor.ts";
import { setUpAcp } from "../testing/setup.ts";

const OUTSIDE: ServerOptions = {
  sandboxPolicy: { type: "dangerFullAccess" },
  approvalPolicy: "never",
  allowUnconfined: true,
};

/** Flint's own agent with an editor, which plays these steps. */
async function setUpEditor(steps: readonly (readonly object[])[], options: ServerOptions = OUTSIDE) {
  const script = (await temporaryFolder()).join("script.json");
  writeFileSync(script, JSON.stringify(steps));
  const clock = new TestClock();
  const kit = await setUpAcp(
    {},
    {
      ...{
        drivers: undefined,
        agents: [],
        native: { ...NATIVE, offlineScript: script },
        model: "flint/offline",
      },
      ...options,
      acp: { clientTerminal: true, clientFs: true, clock },
    },
  );
  const editor = new TestEditor();
  const client = await kit.connect({ capabilities: editor.capabilities, extend: editor.extend });
  const sessionId = await client.newSession(kit.path);
  return { ...kit, clock, editor, client, sessionId };
}

/** Only the offline model. */
const NATIVE = { access: { ollama: { baseUrl: "http://127.0.0.1:9" }, others: [] }, web: { fetch: false } };

const shell = (command: string, more: object = {}) => [{ call: "shell", input: { command, ...more } }];

describe("a command that nothing confines", () => {
  test("runs in the editor's terminal, which its tool call shows [S3-37, S3-38, S3-39]", async () => {
    const steps = [shell('echo "in $PWD"; echo oops >&2; exit 3'), [{ text: "Done." }]];
    const { client, sessionId, editor, path } = await setUpEditor(steps);
    await client.prompt(sessionId, "go");
    expect([...editor.terminals.values()].map(({ request }) => request)).toMatchObject([
      { sessionId, command: "sh", args: ["-c", expect.stringContaining("exit 3")], cwd: path },
    ]);
    const content = [{ type: "terminal", terminalId: "term-1" }];
    const updates = client.of("tool_call_update");
    expect(updates[0]).toMatchObject({ status: "in_progress" });
    expect(updates.filter((update) => update.content?.length === 1)).toMatchObject([
      { content },
      { content },
    ]);
    const { rawOutput, status } = updates.at(-1) ?? {};
    expect(status).toBe("failed");
    expect(rawOutput).toMatchObject({ exitCode: 3, output: expect.stringContaining(`in ${path}\n`) });
    expect(rawOutput).toMatchObject({ output: expect.stringContaining("oops\n") });
    expect(editor.count("terminal/release")).toBe(1);
  });

  test("is announced as unconfined before any work begins, once", async () => {
    const { client, sessionId } = await setUpEditor([[{ text: "One." }], [{ text: "Two." }]]);
    await client.prompt(sessionId, "go");
    const [first, second] = client.updates.filter(
      ({ sessionUpdate }) => sessionUpdate !== "available_commands_update",
    );
    expect(JSON.stringify(first)).toContain("Flint does not confine them there.");
    expect(JSON.stringify(second)).toContain("unsaved changes included");
    await client.prompt(sessionId, "again");
    expect(JSON.stringify(client.updates).match(/does not confine them/g)).toHaveLength(1);
  });

  test("is killed there when the turn is interrupted [S3-42]", async () => {
    const { client, sessionId, editor } = await setUpEditor([shell("echo ready; exec sleep 600")]);
    const prompted = client.prompt(sessionId, "go");
    await editor.asked("terminal/wait_for_exit");
    await client.notify("session/cancel", { sessionId });
    expect(await prompted).toMatchObject({ stopReason: "cancelled" });
    const [terminal] = editor.terminals.values();
    expect(await terminal?.exited).toEqual({ exitCode: null, signal: "SIGKILL" });
    expect(editor.requests.filter((method) => method !== "terminal/output")).toEqual([
      ...["terminal/create", "terminal/wait_for_exit", "terminal/kill", "terminal/release"],
    ]);
  });

  test("is killed at its time limit, which the model sees", async () => {
    const steps = [shell("exec sleep 600", { timeout_ms: 1500 }), [{ text: "Done." }]];
    const { client, sessionId, editor, clock } = await setUpEditor(steps);
    const prompted = client.prompt(sessionId, "go");
    await editor.asked("terminal/wait_for_exit");
    await clock.advance(1500);
    expect(await prompted).toMatchObject({ stopReason: "end_turn" });
    const { rawOutput } = client.of("tool_call_update").at(-1) ?? {};
    expect(rawOutput).toMatchObject({ exitCode: 137, output: expect.stringContaining("its time limit") });
  });

  test("prints as it runs, for everyone who watches", async () => {
    const { client, sessionId, editor, clock, connect, path } = await setUpEditor([
      shell("echo first; exec sleep 600"),
    ]);
    const watcher = await connect();
    await watcher.request("session/load", { sessionId, cwd: path, mcpServers: [] });
    const prompted = client.prompt(sessionId, "go");
    await editor.asked("terminal/wait_for_exit");
    const [terminal] = editor.terminals.values();
    await new Promise((resolve) =>
      terminal?.output ? resolve(true) : terminal?.child.stdout?.once("data", resolve),
    );
    await clock.advance(1000);
    await watcher.until(() => (JSON.stringify(watcher.updates).includes("first\\n") ? true : undefined));
    expect(JSON.stringify(watcher.updates)).not.toContain("term-1");
    await client.notify("session/cancel", { sessionId });
    await prompted;
  });

  test.each([
    ["does not answer", "silent", /did not answer terminal\/create within 10 s/],
    ["refuses", "refuses", /terminal failed/],
  ] as const)("fails with the reason if the editor %s", async (_what, how, reason) => {
    const steps = [shell("echo hi"), [{ text: "Done." }]];
    const { client, sessionId, editor, clock } = await setUpEditor(steps);
    editor[how].add("terminal/create");
    const prompted = client.prompt(sessionId, "go");
    await editor.asked("terminal/create");
    await clock.advance(10_000);
    expect(await prompted).toMatchObject({ stopReason: "end_turn" });
    expect(client.of("tool_call_update").at(-1)).toMatchObject({
      status: "failed",
      rawOutput: { output: expect.stringMatching(reason) },
    });
  });

  test("is given up if the editor does not confirm that it was killed", async () => {
    const { client, sessionId, editor, clock } = await setUpEditor([shell("exec sleep 600")]);
    editor.silent.add("terminal/wait_for_exit");
    const prompted = client.prompt(sessionId, "go");
    await editor.asked("terminal/wait_for_exit");
    await client.notify("session/cancel", { sessionId });
    await editor.asked("terminal/kill");
    await clock.advance(5_000);
    expect(await prompted).toMatchObject({ stopReason: "cancelled" });
  });

  test("ends when the editor is gone, and the next one runs here", async () => {
    const steps = [shell("exec sleep 600"), shell("echo here"), [{ text: "Done." }]];
    const { client, sessionId, editor, connect, path } = await setUpEditor(steps);
    const watcher = await connect();
    await watcher.request("session/load", { sessionId, cwd: path, mcpServers: [] });
    client.prompt(sessionId, "go").catch(() => undefined);
    await editor.asked("terminal/wait_for_exit");
    client.disconnect();
    await watcher.until(() => (watcher.agentText.includes("Done.") ? true : undefined));
    const ended = watcher.of("tool_call_update").flatMap(({ rawOutput }) => (rawOutput ? [rawOutput] : []));
    expect(ended).toMatchObject([
      { output: expect.stringContaining("connection closed") },
      { exitCode: 0, output: "here\n" },
    ]);
    for (const { child } of editor.terminals.values()) child.kill("SIGKILL");
  });

  test("runs here for a client without terminals, and for the prompts of other clients", async () => {
    const steps = [shell("echo one"), [{ text: "One." }], shell("echo two"), [{ text: "Two." }]];
    const { client, sessionId, editor, connect, path } = await setUpEditor(steps);
    await client.prompt(sessionId, "go");
    const plain = await connect();
    await plain.request("session/load", { sessionId, cwd: path, mcpServers: [] });
    await plain.prompt(sessionId, "go");
    expect(editor.terminals.size).toBe(1);
  });
});

test("a command that the sandbox confines never runs in the editor's terminal", async () => {
  const options: ServerOptions = { approvalPolicy: "never", sandboxPolicy: { type: "readOnly" } };
  const { client, sessionId, editor } = await setUpEditor([shell("echo hi"), [{ text: "Done." }]], options);
  await client.prompt(sessionId, "go");
  expect(editor.terminals.size).toBe(0);
});

test("neither terminals nor files of a client are used unless the user wants it", async () => {
  const { path, connect } = await setUpAcp({ scripts: [[{ text: "hi" }]] }, OUTSIDE);
  const editor = new TestEditor();
  const client = await connect({ capabilities: editor.capabilities, extend: editor.extend });
  await client.prompt(await client.newSession(path), "go");
  expect(JSON.stringify(client.updates)).not.toContain("your editor");
});

describe("files", () => {
  const IN_WORKSPACE: ServerOptions = {
    approvalPolicy: "never",
    sandboxPolicy: { type: "workspaceWrite", writableRoots: [], networkAccess: false },
  };
  const edit = (path: string, old_text: string, new_text: string) => [
    { call: "edit_file", input: { path, old_text, new_text } },
  ];

  test("are changed as they are in the editor, through the editor [S3-36]", async () => {
    const steps = [
      [{ call: "read_file", input: { path: "a.txt" } }],
      edit("a.txt", "two", "2"),
      [{ call: "write_file", input: { path: "sub/new.txt", content: "fresh\n" } }],
      [{ text: "Done." }],
    ];
    const { client, sessionId, editor, path } = await setUpEditor(steps, IN_WORKSPACE);
    const [file, added] = [join(path, "a.txt"), join(path, "sub/new.txt")];
    writeFileSync(file, "one\ntwo\n");
    editor.buffers.set(file, "one, not saved yet\ntwo\n");
    await client.prompt(sessionId, "go");
    expect(client.of("tool_call_update")[0]).toMatchObject({
      rawOutput: expect.stringContaining("one, not saved yet"),
    });
    expect(editor.count("fs/write_text_file")).toBe(2);
    expect(readFileSync(file, "utf8")).toBe("one, not saved yet\n2\n");
    expect(editor.buffers.get(added)).toBe("fresh\n");
    expect(readFileSync(added, "utf8")).toBe("fresh\n");
  });

  test.each([
    ["refuses", "refuses", /did not write .*a\.txt/],
    ["does not answer", "silent", /did not answer fs\/write_text_file within 10 s/],
  ] as const)("stay as they are if the editor %s to write them", async (_what, how, reason) => {
    const steps = [
      edit("a.txt", "two", "2"),
      [{ call: "write_file", input: { path: "sub/b.txt", content: "b" } }],
      [{ text: "Done." }],
    ];
    const { client, sessionId, editor, path, clock } = await setUpEditor(steps, IN_WORKSPACE);
    writeFileSync(join(path, "a.txt"), "one\ntwo\n");
    editor[how].add("fs/write_text_file");
    const prompted = client.prompt(sessionId, "go");
    for (const count of [1, 2]) {
      await editor.asked("fs/write_text_file", count);
      await clock.advance(10_000);
    }
    await prompted;
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one\ntwo\n");
    expect(() => readFileSync(join(path, "sub"))).toThrow("ENOENT");
    expect(client.of("tool_call_update").map(({ rawOutput }) => JSON.stringify(rawOutput))).toContainEqual(
      expect.stringMatching(reason),
    );
  });

  test("outside of the workspace are not written, whatever the editor would do", async () => {
    const { path: outside } = await temporaryFolder();
    const steps = [
      [{ call: "write_file", input: { path: join(outside, "x"), content: "x" } }],
      [{ call: "write_file", input: { path: ".git/config", content: "x" } }],
      [{ text: "Done." }],
    ];
    const { client, sessionId, editor } = await setUpEditor(steps, IN_WORKSPACE);
    await client.prompt(sessionId, "go");
    expect(editor.requests).toEqual([]);
  });
});
