import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentFolder, agentProgram, leavesNoProcess, needs, WireClient } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { DONE } from "./scripted-agents.ts";
import { FLINT, initialize, startThread } from "./server.ts";

/** Real agents are started twice, on a machine that may be busy. */
const TEST_MS = 150_000;
const TURN_MS = 90_000;

needs("bwrap", "opencode")(
  "an ACP agent that resumes sessions makes a change in a folder that the user lets the thread write",
  async () => {
    leavesNoProcess();
    const { path: folder } = await agentFolder();
    const [workspace, outside, home] = [
      join(folder, "workspace"),
      join(folder, "outside"),
      join(folder, "home"),
    ];
    await Promise.all([workspace, outside, home].map((path) => mkdir(path)));
    const command = JSON.stringify([agentProgram("opencode") ?? "opencode", "acp"]);
    await writeFile(join(home, "config.toml"), `[agents.opencode]\ncommand = ${command}\n`);
    const script = join(folder, "script.json");
    const file = join(outside, "lantern.txt");
    const call = { call: "write", input: { filePath: file, content: "lantern\n" } };
    // OpenCode ends its turn when a change is declined, so the rest of the first answer is not taken.
    const steps = ["^go$", "Make the change"].flatMap((when) =>
      [[call], DONE].map((parts) => ({ when, parts })),
    );
    await writeFile(script, JSON.stringify({ steps }));
    const env = { ...plainEnvironment(home), HOME: home, FLINT_OFFLINE_SCRIPT: script };
    const flags = ["serve", "--stdio", "--offline", "--agent", "opencode"];
    const wire = WireClient.spawn([process.execPath, FLINT, ...flags], {
      ...{ cwd: workspace, env, header: false },
    });
    onTestFinished(async () => {
      wire.kill("SIGTERM");
      await wire.exited;
    });
    await initialize(wire);
    const threadId = await startThread(wire, { cwd: workspace, model: "opencode" });
    const answered = new Set<unknown>();
    const isOver = wire.waitForMethod("turn/completed", { withinMs: TURN_MS });
    await wire.request("turn/start", { threadId, input: [{ type: "text", text: "go" }] });
    const answer = async (): Promise<void> => {
      const isNew = ({ id, method }: { id?: unknown; method?: unknown }) =>
        /requestApproval$/.test(String(method)) && !answered.has(id);
      const asked = await Promise.race([wire.waitFor(isNew, { withinMs: TURN_MS }), isOver]);
      if (asked.method === "turn/completed") return;
      answered.add(asked.id);
      wire.answer(asked.id, { decision: "acceptForSession" });
      await answer();
    };
    await answer();
    expect(await readFile(file, "utf8")).toBe("lantern\n");
    const items = wire.messages
      .filter(({ method }) => method === "item/completed")
      .map(({ params }) => Object(params).item)
      .filter(({ status }) => status !== undefined);
    expect(items.map(({ status }) => status)).toEqual(["declined", "completed"]);
  },
  TEST_MS,
);
