import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { CommandSandbox } from "@flint/host/sandbox";
import { LIMITS } from "@flint/protocol";
import { leavesNoProcess, needs, runningProcesses, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { callTool, type TurnOptions } from "../../testing/recorded-turn.ts";
import { BackgroundCommands, MAX_COMMANDS, shellOutputTool, shellStopTool } from "./background.ts";
import { shellTool } from "./shell.ts";

const sandbox = new CommandSandbox({ environment: process.env });
const confined = needs("namespaces");

/** A shell in a folder of its own; what is left in the background ends with the test. */
async function setup(firstLookMs?: number) {
  leavesNoProcess();
  const folder = await temporaryFolder();
  const background = new BackgroundCommands();
  onTestFinished(() => background.stopAll());
  const call =
    (tool: ReturnType<typeof shellTool>) =>
    (input: Record<string, unknown>, options: TurnOptions = {}) =>
      callTool(tool, input, folder, { sandbox, ...options });
  return {
    folder,
    background,
    shell: call(shellTool(background, firstLookMs)),
    output: call(shellOutputTool(background)),
    stop: call(shellStopTool(background)),
  };
}

const deltasOf = ({ events }: { readonly events: readonly object[] }) =>
  events.map((event) => ("delta" in event ? event.delta : "")).join("");

confined("runs the approved command verbatim and reports its exit code", async () => {
  const { folder, shell } = await setup();
  const command = "echo 'a  b' > file; echo done; exit 4";
  const { turn, outcome } = await shell({ command });
  expect(turn.actions).toEqual([{ kind: "command", itemId: "item", command, cwd: folder.path }]);
  expect(outcome).toEqual({ result: { status: "failed", exitCode: 4, text: "done\n" } });
  expect(readFileSync(folder.join("file"), "utf8")).toBe("a  b\n");
});

confined("ends a command at its time limit and reports the limit", async () => {
  const { shell } = await setup();
  const { turn, text } = await shell({ command: "echo up; sleep 1000", timeout_ms: 300 });
  expect(text).toBe("up\n(It was killed after 0.3 seconds, its time limit.)\n");
  expect(turn.completed("commandExecution")).toMatchObject([{ status: "failed", aggregatedOutput: text }]);
  expect(deltasOf(turn)).toBe(text);
});

confined("limits and repairs output that is binary or too long [P11]", async () => {
  const { shell } = await setup();
  const odd = await shell({ command: "printf 'a\\0b\\377\\033[31m'" });
  expect(odd.text).toBe("a\0b\ufffd\u001b[31m");
  const loud = await shell({ command: "head -c 3000000 /dev/zero | tr '\\0' x" });
  expect(loud.text.length).toBeLessThanOrEqual(LIMITS.output);
  const [item] = loud.turn.completed("commandExecution");
  expect(item?.omittedOutputBytes).toBeGreaterThan(1_900_000);
  expect(loud.text).toMatch(
    new RegExp(`bytes in 1 lines; ${item?.omittedOutputBytes} bytes of the middle are left out\\.\\)$`),
  );
  expect(loud.outcome).toMatchObject({ result: { printed: { bytes: 3_000_000, lines: 1 } } });
  expect(deltasOf(loud.turn)).toBe(item?.aggregatedOutput);
});

test("rejects an invalid command without asking", async () => {
  const { shell } = await setup();
  for (const command of ["", "  \n", "a\0b"]) {
    const { turn, status } = await shell({ command });
    const shown = turn.events.flatMap((event) => ("item" in event ? [event.item] : []));
    expect([status, turn.actions]).toEqual(["failed", []]);
    expect(shown.at(-1)).toMatchObject({ type: "toolCall", tool: "shell", status: "failed" });
  }
});

confined("runs a command in the background, reads its output and stops its whole process tree", async () => {
  const { shell, output, stop } = await setup();
  const started = await shell({
    command: "echo up; while :; do read x || sleep 1000; done",
    background: true,
  });
  expect(started.text).toMatch(
    /^(up\n)?\(It keeps running in the background as process 1, at most until Flint exits\.\)\n$/,
  );
  expect(started.turn.completed("commandExecution")).toMatchObject([
    { status: "completed", aggregatedOutput: started.text },
  ]);
  expect(deltasOf(started.turn)).toBe(started.text);
  expect((await output({ process_id: "1" })).text).toBe("(It is still running.)");
  const stopped = await stop({ process_id: "1" });
  expect(stopped.text).toBe("(It was stopped.)");
  expect(runningProcesses().filter(({ command }) => command.includes("read x || sleep"))).toEqual([]);
  expect((await output({ process_id: "1" })).text).toBe("(It was stopped.)");
});

confined("waits for new output and returns each chunk once", async () => {
  const { folder, shell, output } = await setup();
  // It waits for a file, so that nothing depends on time.
  const command = "until [ -e go ]; do sleep 0.05; done; echo one; exit 3";
  await shell({ command, background: true });
  const waiting = output({ process_id: "1", wait_ms: 60_000 });
  await shell({ command: "touch go" });
  expect(existsSync(folder.join("go"))).toBe(true);
  const texts = [(await waiting).text];
  while (!texts.at(-1)?.includes("exit code"))
    texts.push((await output({ process_id: "1", wait_ms: 60_000 })).text);
  const lines = texts.join("\n").split("\n");
  expect(lines.filter((line) => line === "one")).toHaveLength(1);
  expect(lines.at(-1)).toBe("(It ended with exit code 3.)");
});

confined("reports a background command that ends at once like any other", async () => {
  const { shell } = await setup(30_000);
  const { outcome } = await shell({ command: "echo no; exit 2", background: true });
  expect(outcome).toEqual({ result: { status: "failed", exitCode: 2, text: "no\n" } });
});

confined("limits the number of background commands and lists the running ones", async () => {
  const { shell } = await setup();
  const requested = Array.from({ length: MAX_COMMANDS }, () =>
    shell({ command: "sleep 1000", background: true }),
  );
  await Promise.all(requested);
  const { status, text } = await shell({ command: "sleep 1000", background: true });
  expect([status, text]).toEqual([
    "failed",
    expect.stringMatching(/^At most 8 commands.*8 \(sleep 1000\).*shell_stop/),
  ]);
});

confined("bounds output that is never read", async () => {
  const { shell, output, background } = await setup();
  const command = "until [ -e go ]; do sleep 0.05; done; head -c 1000000 /dev/zero | tr '\\0' x";
  await shell({ command, background: true });
  await shell({ command: "touch go" });
  await background.get("1")?.ended;
  const { text } = await output({ process_id: "1" });
  expect(text).toMatch(/^… 737856 characters left out …\nx{262144}\n\(It ended with exit code 0\.\)$/);
});

test("names an unknown process with the running ones", async () => {
  const { output, stop } = await setup();
  const unknown = "There is no process 7. No background command is running.";
  expect((await output({ process_id: "7" })).text).toBe(unknown);
  expect((await stop({ process_id: "7" })).text).toBe(unknown);
});

test("fails the turn for a background command without a sandbox, and says how to fix it [P33]", async () => {
  leavesNoProcess();
  const folder = await temporaryFolder();
  const none = new CommandSandbox({ environment: process.env, mechanisms: [] });
  const tool = shellTool(new BackgroundCommands());
  const { outcome } = await callTool(tool, { command: "touch made", background: true }, folder, {
    sandbox: none,
  });
  expect(outcome).toMatchObject({ ended: { status: "failed", error: { errorInfo: "SandboxError" } } });
  expect(existsSync(folder.join("made"))).toBe(false);
});

/** Allows a command, but not to run it again with more. */
const denyAgain: TurnOptions["decide"] = ({ after }) => (after === undefined ? "allow" : "deny");

/** A folder outside of the sandbox that the user may write. */
function outsideFolder(): string {
  const path = realpathSync(mkdtempSync("/var/tmp/flint-shell-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

confined(
  "a command that the sandbox stopped is offered again with what it needs, in the same item",
  async () => {
    const { folder, shell } = await setup();
    const outside = outsideFolder();
    const command = `echo ran >> count; touch ${outside}/made`;
    const { turn, outcome, text } = await shell({ command });
    const evidence = `The sandbox does not let commands write ${outside}/made.`;
    expect(turn.actions).toMatchObject([
      { kind: "command", command },
      {
        ...{ kind: "command", itemId: "item", command, cwd: folder.path, needs: { write: [outside] } },
        reason: expect.stringMatching(/Run it again and let it write .* already ran for .* part of its work/),
        after: { itemId: "item", evidence: [evidence] },
      },
    ]);
    expect(outcome).toMatchObject({ result: { status: "done", exitCode: 0 } });
    expect(text).toContain(`(${evidence})\n(It was allowed and runs again:)`);
    expect(turn.completed("commandExecution")).toMatchObject([{ status: "completed", exitCode: 0 }]);
    expect([existsSync(`${outside}/made`), readFileSync(folder.join("count"), "utf8")]).toEqual([
      true,
      "ran\nran\n",
    ]);
    // It was for that time only.
    const later = await shell({ command: `touch ${outside}/later` }, { decide: denyAgain });
    expect([later.outcome, existsSync(`${outside}/later`)]).toMatchObject([
      { result: { status: "failed" } },
      false,
    ]);
  },
);

confined("a command that the sandbox stopped never runs again without an answer", async () => {
  const { folder, shell } = await setup();
  const outside = outsideFolder();
  const command = `echo ran >> count; touch ${outside}/made`;
  const { turn, text } = await shell({ command }, { decide: denyAgain });
  expect(turn.actions).toHaveLength(2);
  expect(text).toMatch(/\(The sandbox does not let commands write .*\)\n$/);
  expect(readFileSync(folder.join("count"), "utf8")).toBe("ran\n");
  const reading = await shell(
    { command: `touch ${outside}/made` },
    { settings: { sandboxPolicy: { type: "readOnly" } } },
  );
  expect(reading.turn.actions).toHaveLength(1);
});

describe("what a command needs beyond the sandbox", () => {
  confined("is asked for with the command, resolved, and opened for that command only", async () => {
    const { folder, shell } = await setup();
    const outside = await temporaryFolder();
    const link = folder.join("cache");
    symlinkSync(outside.path, link);
    const command = `echo yes > ${outside.join("file")}`;
    const needs = { write: [link] };
    const { turn, status } = await shell({ command, needs, why: "The cache is there." });
    expect(turn.actions).toEqual([
      {
        ...{ kind: "command", itemId: "item", command, cwd: folder.path },
        ...{ needs: { write: [outside.path] }, why: "The cache is there." },
      },
    ]);
    expect([status, readFileSync(outside.join("file"), "utf8")]).toEqual(["done", "yes\n"]);
    const without = await shell({ command: `echo no > ${outside.join("other")}` });
    expect([without.status, existsSync(outside.join("other"))]).toEqual(["failed", false]);
  });

  confined("may be a folder that does not exist: it is created once that was allowed", async () => {
    const { shell } = await setup();
    const outside = await temporaryFolder();
    const path = outside.join("new/cache");
    const input = { command: `echo yes > ${path}/file`, needs: { write: [path] } };
    const declined = await shell(input, { decide: () => "deny" });
    expect([declined.status, existsSync(outside.join("new"))]).toEqual(["declined", false]);
    const { turn, status } = await shell(input);
    expect(turn.actions).toMatchObject([{ needs: { write: [path] } }]);
    expect([status, readFileSync(`${path}/file`, "utf8")]).toEqual(["done", "yes\n"]);
  });

  confined("is not given if it is declined, and nothing runs", async () => {
    const { shell } = await setup();
    const outside = await temporaryFolder();
    const input = { command: `touch ${outside.join("x")}`, needs: { write: [outside.path] } };
    const { status } = await shell(input, { decide: () => "deny" });
    expect([status, existsSync(outside.join("x"))]).toEqual(["declined", false]);
  });

  confined("is no sandbox at all only if it was asked for", async () => {
    const { shell } = await setup();
    const outside = await temporaryFolder();
    const command = `touch ${outside.join("free")}`;
    const { turn, status } = await shell({ command, needs: { unconfined: true } });
    expect(turn.actions).toMatchObject([{ needs: { unconfined: true } }]);
    expect([status, existsSync(outside.join("free"))]).toEqual(["done", true]);
  });

  test.each<[string, object, RegExp]>([
    ["every host as a rule", { network: ["*"] }, /stands for every host/],
    ["an address", { network: ["169.254.169.254"] }, /IP address is not accepted/],
    ["a relative path", { write: ["../x"] }, /is not an absolute path/],
    ["a path below a file", { write: ["/dev/null/cache"] }, /\/dev\/null is not a folder/],
    ["the whole system", { write: ["/"] }, /contains the workspace/],
    ["devices", { write: ["/proc"] }, /belongs to the system/],
    ["settings of the system", { write: ["/etc"] }, /belongs to the system/],
    ["programs of the system", { write: ["/usr/bin"] }, /belongs to the system/],
    ["no sandbox and more", { unconfined: true, write: ["/x"] }, /cannot be combined/],
    [
      "a host with its address",
      { network: ["git.corp.example=10.1.2.3"] },
      /only the user can name addresses/,
    ],
    ["something else", { sudo: true }, /needs\.sudo is not a known field/],
  ])("cannot be %s, and no one is asked", async (_name, needs, problem) => {
    const { shell } = await setup();
    const { turn, status, text } = await shell({ command: "true", needs });
    expect([status, turn.actions]).toEqual(["failed", []]);
    expect(text).toMatch(problem);
  });

  test("cannot be a folder with settings, by whatever name", async () => {
    const { shell, folder } = await setup();
    const home = await temporaryFolder();
    const [settings, link] = [home.join(".claude", "projects"), folder.join("innocent")];
    mkdirSync(settings, { recursive: true });
    symlinkSync(settings, link);
    const { turn, text } = await shell({ command: "true", needs: { write: [link] } });
    expect(turn.actions).toEqual([]);
    expect(text).toContain(".claude configures agents");
  });

  test.each([".config", ".config/git", ".local", ".local/share", ".local/share/opencode", ".local/bin"])(
    "cannot be %s, where programs find settings or other programs",
    async (name) => {
      const { shell } = await setup();
      const home = await temporaryFolder();
      mkdirSync(home.join(name), { recursive: true });
      const { turn, text } = await shell({ command: "true", needs: { write: [home.join(name)] } });
      expect(turn.actions).toEqual([]);
      expect(text).toMatch(/keep their settings there/);
    },
  );

  confined("is nothing where it is allowed already", async () => {
    const { shell, folder } = await setup();
    const needs = { write: [folder.path], network: ["a.example", "b.example:443"] };
    const settings = { network: { hosts: ["a.example", "b.example:443=10.1.2.3"] } };
    const { turn } = await shell({ command: "true", needs }, { settings });
    expect(turn.actions).toMatchObject([{ kind: "command" }]);
    expect(turn.actions[0]).not.toHaveProperty("needs");
  });
});
