import { access } from "node:fs/promises";
import { CommandSandbox } from "@flint/core/sandbox";
import { describeDriver, temporaryFolder } from "@flint/testkit";
import { NativeDriver } from "./driver.ts";

describeDriver("Flint's own agent", async () => {
  const { path } = await temporaryFolder();
  return {
    driver: new NativeDriver(),
    settings: {
      model: "flint/offline",
      cwd: path,
      approvalPolicy: "always",
      sandboxPolicy: { type: "workspaceWrite" },
      config: {},
    },
    sandbox: new CommandSandbox({ environment: process.env }),
    prompts: {
      text: "hello",
      tool: "run `touch made`",
      stream: "count to 1000000",
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
});
