import { access } from "node:fs/promises";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  agentFolder,
  agentProgram,
  type CleanUp,
  type DriverUnderTest,
  descendantsOf,
  describeDriver,
  emptyFolder,
  needs,
} from "@flint/testkit";
import { offlineModel } from "../testing/offline-model.ts";
import { CodexDriver } from "./driver.ts";
import { APP_SERVER, realCodex, SHORT_LIVED } from "./testing/codex-fixture.ts";

const PROGRAM = agentProgram("codex");

if (PROGRAM === undefined) needs("codex")("Codex, as any driver", () => undefined);
else describeDriver("Codex", (atEnd) => settingUp(PROGRAM, atEnd), { sharesSession: true });

async function settingUp(program: string, atEnd: (cleanUp: CleanUp) => void): Promise<DriverUnderTest> {
  const model = await offlineModel(atEnd);
  const sandbox = new CommandSandbox({ environment: process.env });
  const [workspace, state] = await Promise.all([agentFolder(), agentFolder()]);
  for (const { remove } of [workspace, state]) atEnd(remove);
  const { path: cwd } = workspace;
  const options = realCodex({ program, sandbox, stateFolder: state.path, url: () => model.url });
  const newDriver = () => {
    const driver = new CodexDriver(options, SHORT_LIVED);
    // Before its home is removed, so that it writes nothing there any more.
    atEnd(() => driver.close());
    return driver;
  };
  return {
    driver: newDriver(),
    settings: {
      model: "codex/default",
      cwd,
      approvalPolicy: "always",
      sandboxPolicy: { type: "workspaceWrite" },
      config: {},
    },
    sandbox,
    prompts: {
      text: "hello",
      tool: "run `touch made`",
      stream: "count to 6000",
      longTool: "run `sleep 1000`",
      failure: "fail",
      steer: "run `sleep 1`",
    },
    toolRan: () =>
      access(`${cwd}/made`).then(
        () => true,
        () => false,
      ),
    undo: () => emptyFolder(cwd),
    features: {
      again: newDriver,
      fileChange: {
        prompt: "replace two with three in notes.txt",
        path: "notes.txt",
        before: "one\ntwo\nlast\n",
        after: "one\nthree\nlast\n",
      },
      sessionApproval: { sameAgain: "keepsIt", otherTool: "run `touch other`" },
      steering: { more: "count to 3", says: /1.*2.*3/s },
      recall: { ask: "what did I ask you?", says: /hello/ },
      fork: {
        prompt: "hello, lantern",
        ask: "what did I ask you?",
        knowsBefore: /1\. hello/,
        knowsPrompt: /lantern/,
        atAnyTurn: true,
      },
      otherModel: { model: "codex/other", used: () => model.requests.at(-1)?.body.model === "other" },
      selectors: ["reasoning_effort", "collaboration_mode"],
      failing: async (kind) => {
        await model.fail(kind);
        return "hello";
      },
      processes: () => {
        const running = descendantsOf(process.pid).filter(({ command }) => APP_SERVER.test(command));
        return running.map(({ pid }) => pid);
      },
    },
  };
}
