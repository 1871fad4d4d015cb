import { access, readFile } from "node:fs/promises";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  checksWithout,
  descendantsOf,
  describeDriver,
  emptyFolder,
  MODEL_FAILURES,
  temporaryFolder,
  unsupported,
} from "@flint/testkit";
import { AGENT, fixtureDriver } from "./testing/acp-fixture.ts";

describeDriver(
  "An agent of the Agent Client Protocol",
  async (atEnd) => {
    const { path, join, remove } = await temporaryFolder();
    atEnd(remove);
    const modes = [
      { id: "ask", name: "Ask" },
      { id: "free", name: "Free" },
    ];
    const newDriver = () => fixtureDriver(["--steering", "--log", "--fork"], { modes });
    return {
      driver: newDriver(),
      settings: {
        model: "fixture/default",
        cwd: path,
        approvalPolicy: "always",
        sandboxPolicy: { type: "workspaceWrite" },
        config: {},
      },
      sandbox: new CommandSandbox({ environment: process.env }),
      prompts: {
        text: "text",
        tool: "run touch made",
        stream: "stream",
        longTool: "run sleep 1000",
        failure: "fail",
        steer: "steer",
      },
      toolRan: () =>
        access(join("made")).then(
          () => true,
          () => false,
        ),
      undo: () => emptyFolder(path),
      features: {
        again: newDriver,
        fileChange: {
          prompt: "edit notes.txt",
          path: "notes.txt",
          before: "one\ntwo\nlast without an end",
          after: "one\n2\nlast without an end",
        },
        sessionApproval: { sameAgain: "asksAgain", otherTool: "run touch other" },
        steering: { more: "and one thing more", says: /Steered: and one thing more/ },
        recall: { ask: "text", says: /loaded world/ },
        fork: {
          prompt: "text lantern",
          ask: "recall",
          knowsBefore: /^text$/m,
          knowsPrompt: /lantern/,
          atAnyTurn: false,
        },
        otherModel: {
          model: "fixture/large",
          used: async () => (await readFile(join("models"), "utf8")).trim().split("\n").at(-1) === "large",
        },
        selectors: ["mode"],
        failing: unsupported("the fixture has no model"),
        processes: () =>
          descendantsOf(process.pid)
            .filter(({ command }) => command.includes(AGENT))
            .map(({ pid }) => pid),
      },
    };
  },
  { checks: checksWithout(...MODEL_FAILURES), sharesSession: true },
);
