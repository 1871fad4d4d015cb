import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  agentProgram,
  type CleanUp,
  checksWithout,
  type DriverUnderTest,
  descendantsOf,
  describeDriver,
  emptyFolder,
  MODEL_FAILURES,
  needs,
  temporaryFolder,
  unsupported,
} from "@flint/testkit";
import { offlineModel } from "../testing/offline-model.ts";
import { acpProfile } from "./descriptor.ts";
import { AcpDriver } from "./driver.ts";

const NAME = "claude-agent-acp";
const [PROGRAM, CLAUDE] = [agentProgram(NAME), agentProgram("claude")];

/** It reports the failure of its model as an answer, so that no failure can be seen. */
const CHECKS = checksWithout(
  ...MODEL_FAILURES,
  "answers what is steered into a running turn",
  "takes further input while it runs, and none afterwards, if it can be steered",
  "uses another model from the turn on that names it",
);

if (PROGRAM === undefined || CLAUDE === undefined)
  needs(PROGRAM === undefined ? NAME : "claude")(`The real ${NAME}, as any driver`, () => undefined);
else {
  const make = (atEnd: (cleanUp: CleanUp) => void) => settingUp(PROGRAM, CLAUDE, atEnd);
  describeDriver(`The real ${NAME}`, make, { checks: CHECKS, sharesSession: true });
}

async function settingUp(
  program: string,
  claude: string,
  atEnd: (cleanUp: CleanUp) => void,
): Promise<DriverUnderTest> {
  const { path: folder, remove } = await temporaryFolder();
  atEnd(remove);
  const cwd = join(folder, "work");
  await mkdir(cwd);
  const model = await offlineModel(atEnd);
  const newDriver = () =>
    new AcpDriver({
      ...{ profile: acpProfile(NAME, []), version: "0.0.0" },
      // If this is set, the agent uses a mode without permissions, which Claude refuses to root.
      program: async () => ({
        command: [program],
        environment: { CLAUDE_CODE_EXECUTABLE: claude, IS_SANDBOX: "" },
      }),
      offlineModel: async () => model.url,
      stateFolder: join(folder, "state"),
    });
  return {
    driver: newDriver(),
    settings: {
      model: `${NAME}/default`,
      cwd,
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
    },
    toolRan: () =>
      access(join(cwd, "made")).then(
        () => true,
        () => false,
      ),
    undo: () => emptyFolder(cwd),
    stopsWithinMs: 4_000,
    turnWithinMs: 40_000,
    features: {
      again: newDriver,
      fileChange: {
        prompt: "replace two with three in notes.txt",
        path: "notes.txt",
        before: "one\ntwo\nlast\n",
        after: "one\nthree\nlast\n",
      },
      sessionApproval: { sameAgain: "asksAgain", otherTool: "run `touch other`" },
      steering: unsupported("it claims that it can be steered, and refuses input while it works"),
      recall: { ask: "what did I ask you?", says: /hello/ },
      fork: {
        prompt: "hello, lantern",
        ask: "what did I ask you?",
        knowsBefore: /1\. hello/,
        knowsPrompt: /lantern/,
        atAnyTurn: false,
      },
      otherModel: unsupported("what it calls its models depends on the account"),
      selectors: ["mode"],
      failing: unsupported("it reports the failure of its model as an answer"),
      processes: () =>
        descendantsOf(process.pid)
          .filter(({ command }) => command.includes(`/${NAME}`))
          .map(({ pid }) => pid),
    },
  };
}
