import { access } from "node:fs/promises";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  agentFolder,
  agentProgram,
  type DriverUnderTest,
  descendantsOf,
  describeDriver,
  type ModelFailureKind,
  needs,
} from "@flint/testkit";
import { onTestFinished } from "vitest";
import { type OfflineScript, offlineModel } from "../testing/offline-model.ts";
import { CodexDriver } from "./driver.ts";
import { APP_SERVER, realCodex, SHORT_LIVED } from "./testing/codex-fixture.ts";

/** What the model does first; Codex retries where that makes sense. */
const FAILURES: Readonly<Record<ModelFailureKind, OfflineScript>> = {
  badRequest: [[{ error: { status: 400, message: "The lamp does not fit." } }]],
  rateLimit: [[{ error: { status: 429, message: "One lamp at a time.", retry_after: 0.05 } }]],
  overloaded: [[{ error: { status: 529, message: "Too many lamps." } }]],
  cutStream: [[{ text: "Half of a" }, { cut: true }]],
};

const PROGRAM = agentProgram("codex");

if (PROGRAM === undefined) needs("codex")("Codex, as any driver", () => undefined);
else describeDriver("Codex", () => settingUp(PROGRAM));

async function settingUp(program: string): Promise<DriverUnderTest> {
  const model = await offlineModel(onTestFinished);
  const sandbox = new CommandSandbox({ environment: process.env });
  const [{ path: cwd }, { path: stateFolder }] = await Promise.all([agentFolder(), agentFolder()]);
  let { url } = model;
  const options = realCodex({ program, sandbox, stateFolder, url: () => url });
  const newDriver = () => {
    const driver = new CodexDriver(options, SHORT_LIVED);
    // Before its home is removed, so that it writes nothing there any more.
    onTestFinished(() => driver.close());
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
    gives: {
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
        const failing = await offlineModel(onTestFinished, FAILURES[kind]);
        url = failing.url;
        return "hello";
      },
      processes: () => {
        const running = descendantsOf(process.pid).filter(({ command }) => APP_SERVER.test(command));
        return running.map(({ pid }) => pid);
      },
    },
  };
}
