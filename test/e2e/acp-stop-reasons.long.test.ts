import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { promptOf, startEditor } from "./clients/acp-editor.ts";

/** A real agent takes its time, most of all to start on a busy machine. */
const TEST_MS = 90_000;

const shell = (command: string) => [{ call: "shell", input: { command } }];
const cutOff = [{ text: "It goes on and " }, { finish: "length" }];

/** A session of an agent that plays a script, and how to prompt it. */
async function session(agent: string, script: readonly unknown[], config = "") {
  const { path: folder } = await agentFolder();
  const cwd = join(folder, "workspace");
  const home = join(folder, "state");
  await Promise.all([mkdir(cwd), mkdir(home)]);
  await writeFile(join(home, "config.toml"), config);
  await writeFile(join(folder, "script.json"), JSON.stringify(script));
  const env = {
    ...plainEnvironment(home),
    PATH: process.env.PATH,
    HOME: folder,
    CLAUDE_CODE_EXECUTABLE: agentProgram("claude") ?? "",
    FLINT_OFFLINE_SCRIPT: join(folder, "script.json"),
  };
  const flags = ["--agent", agent];
  const editor = await startEditor({ cwd, env, flags, choose: async () => "allow_once" });
  const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
  const prompt = () => editor.agent.request("session/prompt", promptOf(sessionId, "do it"));
  return { editor, sessionId, prompt };
}

for (const agent of ["claude", "flint"] as const) {
  const real = agent === "claude" ? needs("claude") : test;
  const ends = (title: string, run: () => Promise<void>) => real(title, run, TEST_MS);

  describe(`the end of a turn of ${agent}, as an editor gets it`, () => {
    ends("is end_turn for an answer", async () => {
      const { prompt } = await session(agent, [[{ text: "Done." }]]);
      expect(await prompt()).toMatchObject({ stopReason: "end_turn" });
    });

    ends("is refusal if the model refuses", async () => {
      const refused = [{ text: "I can" }, { finish: "filtered" }];
      const { prompt } = await session(agent, [refused, refused, refused]);
      expect(await prompt()).toMatchObject({ stopReason: "refusal" });
    });

    ends("is max_tokens for an answer that is too long", async () => {
      const { prompt } = await session(
        agent,
        Array.from({ length: 8 }, () => cutOff),
      );
      expect(await prompt()).toMatchObject({ stopReason: "max_tokens" });
    });

    ends("is max_turn_requests at the limit of steps", async () => {
      const script = [shell("echo one"), shell("echo two"), [{ text: "Done." }]];
      const { prompt } = await session(agent, script, "step_limit = 1\n");
      expect(await prompt()).toMatchObject({ stopReason: "max_turn_requests" });
    });

    ends("is cancelled if the editor cancels", async () => {
      const endless = [{ repeat: "word ", times: 1_000_000 }];
      const { prompt, editor, sessionId } = await session(agent, [endless]);
      const ended = prompt();
      await expect
        .poll(() => editor.updates.some(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"), {
          timeout: TEST_MS,
        })
        .toBe(true);
      await editor.agent.notify("session/cancel", { sessionId });
      expect(await ended).toMatchObject({ stopReason: "cancelled" });
    });
  });
}
