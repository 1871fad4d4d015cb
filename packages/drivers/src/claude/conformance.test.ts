import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  agentProgram,
  type CleanUp,
  type DriverUnderTest,
  descendantsOf,
  describeDriver,
  emptyFolder,
  needs,
  temporaryFolder,
} from "@flint/testkit";
import { offlineModel } from "../testing/offline-model.ts";
import { ClaudeDriver } from "./driver.ts";

const PROGRAM = agentProgram("claude");

if (PROGRAM === undefined) needs("claude")("Claude, as any driver", () => undefined);
else describeDriver("Claude", (atEnd) => settingUp(PROGRAM, atEnd), { sharesSession: true });

async function settingUp(program: string, atEnd: (cleanUp: CleanUp) => void): Promise<DriverUnderTest> {
  const { path, remove } = await temporaryFolder();
  atEnd(remove);
  const [workspace, config] = [join(path, "workspace"), join(path, "config")];
  await Promise.all([mkdir(workspace), mkdir(config)]);
  const model = await offlineModel(atEnd);
  const newDriver = () =>
    new ClaudeDriver({
      program: async () => ({ command: [program], environment: { CLAUDE_CONFIG_DIR: config } }),
      offlineModel: async () => model.url,
      version: "0.0.0",
    });
  return {
    driver: newDriver(),
    settings: {
      model: "claude/default",
      cwd: workspace,
      approvalPolicy: "always",
      sandboxPolicy: { type: "workspaceWrite" },
      config: {},
    },
    sandbox: new CommandSandbox({ environment: process.env }),
    prompts: {
      text: "hello",
      tool: "run `touch made`",
      stream: "count to 100000",
      longTool: "run `touch begun && tail -f /dev/null`",
      failure: "fail",
      steer: "run `sleep 1.5; echo done`",
    },
    toolRan: () =>
      access(join(workspace, "made")).then(
        () => true,
        () => false,
      ),
    undo: () => emptyFolder(workspace),
    stopsWithinMs: 4_000,
    turnWithinMs: 40_000,
    features: {
      again: newDriver,
      fileChange: {
        prompt: "replace two with three in notes.txt",
        path: "notes.txt",
        before: "one\ntwo\nlast without an end",
        after: "one\nthree\nlast without an end",
      },
      sessionApproval: { sameAgain: "asksAgain", otherTool: "run `touch other`" },
      steering: { more: "count to 3", says: /1.*2.*3/s },
      recall: { ask: "what did I ask you?", says: /1\. hello/ },
      fork: {
        prompt: "hello, lantern",
        ask: "what did I ask you?",
        knowsBefore: /1\. hello/,
        knowsPrompt: /lantern/,
        atAnyTurn: true,
      },
      otherModel: { model: "claude/haiku", used: () => /haiku/.test(String(model.latestModel)) },
      selectors: ["reasoning_effort", "max_thinking_tokens", "mode"],
      failing: async (kind) => {
        await model.fail(kind);
        return "hello";
      },
      processes: () =>
        descendantsOf(process.pid)
          .filter(({ command }) => command.startsWith(program))
          .map(({ pid }) => pid),
    },
  };
}
