import { dirname } from "node:path";
import { expect, test } from "vitest";
import { completedItems, initialize, runTurn, startServer, startThread } from "./server.ts";

test.each(["mkfifo x/commondir", "ln -s /dev/zero x/commondir"])(
  "commands and threads go on after a command made a worktree by `%s`",
  async (plant) => {
    const { wire, workspace } = await startServer();
    await initialize(wire);
    const run = (script: string) => wire.request("command/exec", { command: ["sh", "-c", script] });
    const planted = `mkdir sub x && ${plant} && echo "gitdir: ../x" > sub/.git`;
    expect(await run(planted)).toMatchObject({ exitCode: 0 });
    expect(await run("echo next")).toMatchObject({ exitCode: 0, stdout: "next\n" });
    for (const cwd of [workspace, `${workspace}/sub`, dirname(workspace)]) {
      const threadId = await startThread(wire, { cwd, approvalPolicy: "never" });
      const [command] = completedItems(await runTurn(wire, threadId, "run `echo hi`"), "commandExecution");
      expect(command).toMatchObject({ exitCode: 0, aggregatedOutput: "hi\n" });
    }
    wire.end();
    expect(await wire.exited).toEqual({ code: 0, signal: null });
  },
);
