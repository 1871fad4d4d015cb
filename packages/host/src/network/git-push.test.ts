import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { agentFolder, needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import type { NetworkAnswer } from "./host-gate.ts";
import { gitServer } from "./testing/git-server.ts";
import { CA_FILE, startInternet } from "./testing/internet.ts";
import { NetworkFixture } from "./testing/network-commands.ts";
import { sshServer } from "./testing/ssh-server.ts";

const test = needs("bwrap", "git");
const testWithSsh = needs("bwrap", "git", "ssh", "sshd");

const VARIABLES = {
  ...{ GIT_SSL_CAINFO: CA_FILE, GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" },
  ...{ GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.example" },
  ...{ GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.example" },
};

const pushTo = (remote: string) =>
  [
    "git init --quiet -b main work && cd work && git commit --quiet --allow-empty -m pushed",
    `git push --quiet ${remote} main`,
  ].join(" && ");

const PUSH = pushTo("https://git.example/repo.git");

/** A thread beside a server with an empty repository, and a user who answers every question like this. */
async function setUp(answer: NetworkAnswer, hasSsh = false) {
  const site = await agentFolder();
  const remote = join(site.path, "repo.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote]);
  const ssh = hasSsh ? sshServer(site.path, "git.example") : undefined;
  const internet = await startInternet(gitServer(site.path), ssh?.server);
  onTestFinished(() => internet.stop());
  const asked: string[] = [];
  const ask = async ({ host, port }: { host: string; port: number }) => {
    asked.push(`${host}:${port}`);
    return answer;
  };
  const fixture = await NetworkFixture.create(
    { dial: internet.dial, ask },
    {
      ...VARIABLES,
      ...(ssh === undefined ? {} : { GIT_SSH_COMMAND: ssh.command }),
    },
  );
  onTestFinished(() => fixture.remove());
  const pushed = () => execFileSync("git", ["-C", remote, "for-each-ref", "--format=%(subject)"]).toString();
  return { fixture, asked, pushed, overSsh: pushTo(`ssh://git@git.example${remote}`) };
}

test("a push over https waits for the user, and is done once the host is allowed", async () => {
  const { fixture, asked, pushed } = await setUp({ decision: "allow", scope: "once" });
  expect(await fixture.run(PUSH)).toMatchObject({ exitCode: 0, stderr: "" });
  expect([asked, pushed()]).toEqual([["git.example:443"], "pushed\n"]);
});

test("a push to a host that is declined fails, sends nothing, and the refusal is known", async () => {
  const { fixture, asked, pushed } = await setUp({ decision: "deny", scope: "once" });
  const startedAt = Date.now();
  const { exitCode, stderr } = await fixture.run(PUSH, { id: "push" });
  expect([exitCode, stderr]).toEqual([128, expect.stringContaining("403")]);
  expect([asked, pushed()]).toEqual([["git.example:443"], ""]);
  const window = { command: "push", startedAt, endedAt: Date.now() };
  expect(fixture.network.refusedTo(window)).toMatchObject([{ host: "git.example", isCertain: true }]);
});

testWithSsh("a push over ssh waits for the user, and is done once the host is allowed", async () => {
  const { fixture, asked, pushed, overSsh } = await setUp({ decision: "allow", scope: "once" }, true);
  expect(await fixture.run(overSsh)).toMatchObject({ exitCode: 0, stderr: "" });
  expect([asked, pushed()]).toEqual([["git.example:22"], "pushed\n"]);
});

testWithSsh(
  "a push over ssh to a host that is declined fails with the reason, and sends nothing",
  async () => {
    const { fixture, asked, pushed, overSsh } = await setUp({ decision: "deny", scope: "once" }, true);
    const startedAt = Date.now();
    const { exitCode, stderr } = await fixture.run(overSsh, { id: "push" });
    expect([exitCode, stderr]).toEqual([
      128,
      expect.stringContaining("Flint's sandbox refused the connection to git.example:22"),
    ]);
    expect([asked, pushed()]).toEqual([["git.example:22"], ""]);
    const window = { command: "push", startedAt, endedAt: Date.now() };
    expect(fixture.network.refusedTo(window)).toMatchObject([{ host: "git.example", isCertain: true }]);
  },
);
