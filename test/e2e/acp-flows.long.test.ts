import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { agentFolder, leavesNoProcess, needs } from "@flint/testkit";
import { expect } from "vitest";
import { promptOf, startEditor } from "./clients/acp-editor.ts";
import { environmentIn } from "./codex/sdk.ts";
import {
  commitAs,
  DECLINED_COMMAND,
  FILES,
  FLOWS,
  flowScript,
  localServer,
  ON_REQUEST,
  TITLES,
  titlesIn,
} from "./permission-flows.ts";
import { choosing, SCRIPTED_AGENTS, type ScriptedAgent } from "./scripted-agents.ts";

/** Real agents are started, on a machine that may be busy. */
const TEST_MS = 120_000;

for (const scripted of SCRIPTED_AGENTS) {
  const { agent, program } = scripted;
  const parts = program === undefined ? [] : [program];
  needs(
    "bwrap",
    "git",
    "curl",
    ...parts,
  )(
    `the ACP SDK is asked about commands of ${agent} that leave the sandbox, about hosts, commits and files`,
    async () => {
      const { port, paths } = await localServer();
      const { cwd, prompt } = await editorWith(scripted, port);
      const host = `Allow it to connect to localhost (port ${port})?`;
      const commits = (title: string) => `Apply 1 commit on main (${title})?`;

      const allowed = await prompt(FLOWS.allowedHost, "allow_once", host);
      expect(allowed.asked).toContain(host);
      expect(allowed.shown).toContain("lantern");
      const declined = await prompt(FLOWS.declinedHost, "reject_once", host);
      expect(declined.asked).toContain(host);
      expect(declined.shown).toContain(`Flint refused the connection to localhost:${port}: it was declined.`);
      expect(paths).toEqual(["/allowed"]);
      const unrun = await prompt(FLOWS.declinedCommand, "reject_once", DECLINED_COMMAND);
      expect(unrun.asked).toContain(DECLINED_COMMAND);
      expect(unrun.shown).toContain("eclined");
      expect(existsSync(join(cwd, "declined-command"))).toBe(false);

      const applied = await prompt(FLOWS.allowedCommit, "allow_once", commits(TITLES.allowed));
      expect(applied.asked).toContain(commits(TITLES.allowed));
      expect(await titlesIn(cwd)).toEqual({ branch: `${TITLES.allowed}\nfirst\n`, kept: "" });
      const kept = await prompt(FLOWS.declinedCommit, "reject_once", commits(TITLES.declined));
      expect(kept.asked).toContain(commits(TITLES.declined));
      expect(kept.shown).toMatch(/refs\/flint\/in[\s\S]*Declined: The user rejected it\./);
      expect(await titlesIn(cwd)).toMatchObject({
        branch: `${TITLES.allowed}\nfirst\n`,
        kept: expect.stringMatching(new RegExp(`^${TITLES.declined}\n`)),
      });

      const outside = "Allow it to run outside of the sandbox";
      const left = await prompt(FLOWS.allowedLeave, "allow_once", outside);
      expect(left.asked).toContain(outside);
      expect(left.shown).toContain("lantern");
      expect(left.shown).not.toContain("flint-run");
      expect(await readFile(join(cwd, "../count"), "utf8")).toBe("run\n");
      const stayed = await prompt(FLOWS.declinedLeave, "reject_once", outside);
      expect(stayed.asked).toContain(outside);
      expect(stayed.shown).toContain("eclined");
      expect(existsSync(join(cwd, "../declined"))).toBe(false);

      const written = await prompt(FLOWS.allowedChange, "allow_once", FILES.allowed);
      expect(written.asked).toContain(FILES.allowed);
      expect(await readFile(join(cwd, FILES.allowed), "utf8")).toBe("lantern\n");
      const unwritten = await prompt(FLOWS.declinedChange, "reject_once", FILES.declined);
      expect(unwritten.asked).toContain(FILES.declined);
      expect(existsSync(join(cwd, FILES.declined))).toBe(false);
    },
    TEST_MS,
  );

  needs(
    "bwrap",
    "git",
    "curl",
    ...parts,
  )(
    `the ACP SDK in the mode on-request is asked only about what ${agent} does beyond the sandbox`,
    async () => {
      const { port } = await localServer();
      const { cwd, prompt, setMode } = await editorWith(scripted, port, ON_REQUEST);
      await setMode("on-request");
      const ran = await prompt(FLOWS.declinedCommand, "reject_once", "");
      expect(ran.asked).toBe("");
      expect(existsSync(join(cwd, "declined-command")), ran.shown).toBe(true);
      const stayed = await prompt(FLOWS.declinedLeave, "reject_once", "");
      expect(stayed.asked).toContain("Allow it to run outside of the sandbox");
      expect(existsSync(join(cwd, "../declined"))).toBe(false);
      const written = await prompt(FLOWS.allowedChange, "reject_once", "");
      expect(written.asked).toBe("");
      expect(await readFile(join(cwd, FILES.allowed), "utf8")).toBe("lantern\n");
    },
    TEST_MS,
  );
}

/** An editor with a session of the agent in a repository with one commit. */
async function editorWith(scripted: ScriptedAgent, port: number, only?: readonly string[]) {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const [cwd, home] = [join(folder, "workspace"), join(folder, "home")];
  await Promise.all([mkdir(cwd), mkdir(home)]);
  execFileSync("git", ["init", "--quiet", "--initial-branch=main"], { cwd });
  execFileSync("sh", ["-c", commitAs("first")], { cwd });
  const { options: flags, configuration } = choosing(scripted);
  await writeFile(join(home, "config.toml"), configuration);
  const script = join(folder, "script.json");
  await writeFile(script, JSON.stringify({ steps: flowScript(scripted, port, only) }));
  const env = { ...environmentIn(home), FLINT_OFFLINE_SCRIPT: script };

  let asked: string[] = [];
  let answer = { about: "", kind: "" };
  const choose = async ({ toolCall }: RequestPermissionRequest) => {
    const paths = (toolCall.content ?? []).flatMap((piece) => (piece.type === "diff" ? [piece.path] : []));
    const question = [toolCall.title ?? "", ...textsOf(toolCall.content), ...paths].join("\n");
    asked.push(question);
    return question.includes(answer.about) ? answer.kind : "allow_once";
  };
  const editor = await startEditor({ cwd, env, flags, choose });
  const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
  /** Prompts and answers the question about something; everything else is allowed. */
  const prompt = async (text: string, kind: string, about: string) => {
    asked = [];
    answer = { about, kind };
    editor.updates.length = 0;
    await editor.agent.request("session/prompt", promptOf(sessionId, text));
    const shown = editor.updates.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" ? textsOf(update.content) : [],
    );
    return { asked: asked.join("\n"), shown: shown.join("\n") };
  };
  const setMode = (modeId: string) => editor.agent.request("session/set_mode", { sessionId, modeId });
  return { cwd, prompt, setMode };
}

function textsOf(content: RequestPermissionRequest["toolCall"]["content"]): string[] {
  return (content ?? []).flatMap((piece) =>
    piece.type === "content" && piece.content.type === "text" ? [piece.content.text] : [],
  );
}
