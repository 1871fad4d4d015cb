import { access } from "node:fs/promises";
import type { Clock } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  checksWithout,
  type DriverFeatures,
  type DriverUnderTest,
  describeDriver,
  MODEL_FAILURES,
  temporaryFolder,
  unsupported,
} from "@flint/testkit";
import { onTestFinished } from "vitest";
import { offlineModel } from "../testing/offline-model.ts";
import { NativeDriver } from "./driver.ts";

const RECALL = { ask: "what did I ask you?", says: /1\. hello/ };

const GIVES = {
  fileChange: {
    prompt: "replace two with three in notes.txt",
    path: "notes.txt",
    before: "one\ntwo\nlast without an end",
    after: "one\nthree\nlast without an end",
  },
  sessionApproval: { sameAgain: "asksAgain", otherTool: "run `touch other`" },
  steering: { more: "count to 3", says: /1.*2.*3/s },
  recall: RECALL,
  fork: {
    prompt: "hello, lantern",
    ask: RECALL.ask,
    knowsBefore: RECALL.says,
    knowsPrompt: /lantern/,
    atAnyTurn: false,
  },
  selectors: ["context_length"],
  processes: unsupported("Flint's own agent has no process"),
} as const satisfies Partial<DriverFeatures>;

/** Waits hardly at all, so that a second try comes at once. */
const HURRIED_CLOCK: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(_milliseconds, action) {
    const timer = setTimeout(action, 1);
    return () => clearTimeout(timer);
  },
};

const OTHER_MODEL = "uses another model from the turn on that names it";
const KILLED = "fails the turn once when the agent is killed, and does the next one";

describeDriver(
  "Flint's own agent",
  async () => {
    const newDriver = () => new NativeDriver();
    return {
      ...(await settingUp("flint/offline")),
      driver: newDriver(),
      features: {
        ...GIVES,
        again: newDriver,
        otherModel: unsupported("there is one offline model; others are tried over HTTP"),
        failing: unsupported("the offline model in this process has nothing to fail with; tried over HTTP"),
      },
    };
  },
  { checks: checksWithout(OTHER_MODEL, KILLED, ...MODEL_FAILURES) },
);

describeDriver(
  "Flint's own agent with a model over HTTP",
  async () => {
    const model = await offlineModel(onTestFinished);
    const access = {
      anthropic: { baseUrl: model.url, apiKey: "none" },
      ollama: { baseUrl: "http://127.0.0.1:1" },
      others: [],
    };
    const newDriver = () => new NativeDriver({ access }, HURRIED_CLOCK);
    return {
      ...(await settingUp("flint/anthropic/claude-opus-5-5")),
      driver: newDriver(),
      features: {
        ...GIVES,
        again: newDriver,
        otherModel: {
          model: "flint/anthropic/claude-haiku-5-5",
          used: () => model.latestModel === "claude-haiku-5-5",
        },
        failing: async (kind) => {
          await model.fail(kind);
          return "hello";
        },
      },
    };
  },
  { checks: checksWithout(KILLED) },
);

async function settingUp(model: string): Promise<Omit<DriverUnderTest, "driver">> {
  const { path } = await temporaryFolder();
  return {
    settings: {
      model,
      cwd: path,
      approvalPolicy: "always",
      sandboxPolicy: { type: "workspaceWrite" },
      config: {},
    },
    sandbox: new CommandSandbox({ environment: process.env }),
    prompts: {
      text: "hello",
      tool: "run `touch made`",
      stream: "count to 100000",
      longTool: "run `sleep 1000`",
      failure: "fail",
      steer: "run `sleep 1`",
    },
    toolRan: () =>
      access(`${path}/made`).then(
        () => true,
        () => false,
      ),
  };
}
