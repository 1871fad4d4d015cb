import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { SandboxScope } from "@flint/core/ports";
import { needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { gitServer } from "../network/testing/git-server.ts";
import { newFolder } from "./testing/fixture.ts";
import { newRepository } from "./testing/repository.ts";

const test = needs("bwrap", "git");

/** The remote is on this machine, for which programs leave out the proxy unless these are empty. */
const PUSH = "git commit -q --allow-empty -m pushed && no_proxy= NO_PROXY= git push -q origin main";

/** A repository whose remote is a web server, and an agent that pushes from its thread's own git directory. */
async function setUp(isAllowed: boolean) {
  const site = newFolder();
  const remote = join(site, "repo.git");
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", remote]);
  const server = createServer(gitServer(site));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  // A server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  const repository = await newRepository({
    prepare: async (_path, git) => {
      await git("remote", "add", "origin", `http://localhost:${port}/repo.git`);
      await git("push", "-q", "origin", "main");
      return undefined;
    },
  });
  const asked: string[] = [];
  const scope: SandboxScope = {
    ...{ id: "t1", privateGit: true },
    decide: async ({ host, port: requested }) => {
      asked.push(`${host}:${requested}`);
      return isAllowed ? { allowed: true } : { allowed: false, reason: "it was declined" };
    },
  };
  const pushed = () => execFileSync("git", ["-C", remote, "log", "--format=%s", "main"]).toString();
  return { ...repository, scope, asked, pushed, host: `localhost:${port}` };
}

test("a push from the thread's own git directory is asked about, and the branch of the remote is taken over", async () => {
  const { attempt, git, scope, asked, pushed, host, offered } = await setUp(true);
  expect(await attempt(PUSH, { scope })).toMatchObject({ exitCode: 0 });
  expect([...new Set(asked)]).toEqual([host]);
  expect(pushed()).toBe("pushed\nfirst\n");
  expect(await git("log", "--format=%s", "origin/main")).toBe("first\n");
  const found = await offered();
  expect(found.refs.map(({ name }) => name).sort()).toEqual(["refs/heads/main", "refs/remotes/origin/main"]);
  expect(await found.accept()).not.toHaveProperty("refused");
  expect(await git("log", "--format=%s", "origin/main")).toBe("pushed\nfirst\n");
  expect(await git("log", "--format=%s", "main")).toBe("pushed\nfirst\n");
});

test("offers the commit if its push was declined", async () => {
  const { attempt, scope, pushed, offered } = await setUp(false);
  expect(await attempt(PUSH, { scope })).toMatchObject({ exitCode: 128 });
  expect(pushed()).toBe("first\n");
  expect((await offered()).refs.map(({ name }) => name)).toEqual(["refs/heads/main"]);
});
