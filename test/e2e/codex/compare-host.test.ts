import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { ClientConnection } from "@flint/frontends";
import { codexFrontend } from "@flint/frontends/codex";
import { CODEX_HOST_REQUESTS } from "@flint/protocol/codex";
import { streamTransport } from "@flint/rpc/node";
import { composeEngine } from "@flint/server";
import { agentFolder, agentProgram, needs, scriptedDriver, WireClient } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { codexHost } from "../../../packages/server/src/codex-host/codex-host.ts";
import { hostScript } from "./host-script.ts";
import { differences, type Outcome, outcomeOf } from "./outcome.ts";

/** A workspace with one file, and a repository that has nothing new for its remote. */
async function workspaceIn(home: string): Promise<string> {
  const workspace = join(home, "work");
  const repository = join(workspace, "repository");
  await mkdir(repository, { recursive: true });
  await writeFile(join(workspace, "a.txt"), "hello");
  const named = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
  const git = (...args: string[]) =>
    execFileSync("git", [...named, ...args], { cwd: repository, stdio: "ignore" });
  git("init", "--bare", join(home, "remote.git"));
  git("init");
  git("commit", "--allow-empty", "-m", "first");
  git("remote", "add", "origin", join(home, "remote.git"));
  git("push", "origin", "HEAD:main");
  return workspace;
}

async function real(): Promise<Map<string, Outcome>> {
  const { path: home } = await agentFolder();
  const workspace = await workspaceIn(home);
  const options = { env: { CODEX_HOME: home }, cwd: workspace };
  return play(WireClient.spawn([agentProgram("codex") ?? "codex", "app-server"], options), workspace);
}

async function ours(): Promise<Map<string, Outcome>> {
  const { path: home } = await agentFolder();
  const workspace = await workspaceIn(home);
  const engine = composeEngine({
    ...{ root: join(home, "flint"), cwd: workspace, drivers: [scriptedDriver()] },
    // Codex runs commands without a sandbox and without approval.
    allowUnconfined: true,
  });
  onTestFinished(() => engine.close());
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const frontend = codexFrontend(codexHost(join(home, "flint")));
  new ClientConnection(frontend, engine, streamTransport(toServer, toClient));
  return play(WireClient.over(toClient, toServer), workspace);
}

async function play(client: WireClient, workspace: string): Promise<Map<string, Outcome>> {
  const params = { clientInfo: { name: "probe", version: "1" }, capabilities: { experimentalApi: true } };
  await client.request("initialize", params);
  const outcomes = new Map<string, Outcome>();
  for (const [at, [step, method, params]] of hostScript(workspace).entries()) {
    const outcome = await outcomeOf(client, 1_000 + at, method, params);
    const refusal = "refusal" in outcome && outcome.refusal.replaceAll(workspace, "<workspace>");
    outcomes.set(step, refusal === false ? outcome : { refusal });
  }
  return outcomes;
}

/** The intended differences, by their text, with the reason. Each one has to be seen. */
const ACCEPTED: readonly (readonly [pattern: RegExp, why: string])[] = [
  [
    /^config\/read.* \.config\./,
    "Flint's settings are its own; the configuration names those that both have.",
  ],
  [/^collaborationMode\/list .*reasoning_effort/, "The effort is the one of the thread's own model."],
  [/^cancelling a login of no UUID/, "Flint has no logins, so there is none to cancel."],
];

needs("codex")(
  "the Codex front end answers requests about the machine as the real app-server does, malformed ones too",
  async () => {
    const [there, here] = [await real(), await ours()];
    const found = [...there].flatMap(([step, outcome]) =>
      differences(outcome, here.get(step)).map((difference) => `${step} ${difference}`),
    );
    expect(found.filter((line) => !ACCEPTED.some(([pattern]) => pattern.test(line)))).toEqual([]);
    expect(ACCEPTED.filter(([pattern]) => !found.some((line) => pattern.test(line)))).toEqual([]);
    const asked = new Set(hostScript("/").map(([, method]) => method));
    expect(Object.keys(CODEX_HOST_REQUESTS).filter((method) => !asked.has(method))).toEqual([]);
  },
  60_000,
);
