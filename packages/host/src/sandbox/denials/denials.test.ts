import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import type { LaunchResult } from "@flint/core/ports";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { announcePort } from "../sockets.ts";
import { newFolder } from "../testing/fixture.ts";
import { denialsOf, type EndedConfinedCommand } from "./denials.ts";

/** A command that ended with this output, of a user who may write `outside` and whose home is another folder. */
async function ended(
  change: (folders: Folders) => Partial<EndedConfinedCommand>,
  canWrite?: (path: string) => Promise<boolean>,
): Promise<Folders & { denials: unknown }> {
  const [workspace, outside, home] = [newFolder(), newFolder(), newFolder()];
  const folders = { workspace, outside, home };
  const command: EndedConfinedCommand = {
    ...{ exitCode: 1, output: "", cwd: workspace, workspace, home, refused: [], locked: [] },
    policy: { type: "workspaceWrite" },
    ...change(folders),
  };
  const denials = await denialsOf(command, canWrite);
  return { ...folders, denials };
}

interface Folders {
  readonly workspace: string;
  readonly outside: string;
  readonly home: string;
}

const touched = (path: string) => `touch: cannot touch '${path}': Read-only file system\n`;

describe("a path that could not be written", () => {
  test("is a denial if the user could write it outside, with the nearest folder that exists", async () => {
    const { outside, denials } = await ended((at) => ({ output: touched(`${at.outside}/a/b`) }));
    expect(denials).toEqual([
      {
        needs: { write: [outside] },
        evidence: `The sandbox does not let commands write ${outside}/a/b.`,
      },
    ]);
  });

  test("is none if the user could not write it either, or it is private to the command anyway", async () => {
    const denied = await ended(
      (at) => ({ output: touched(`${at.outside}/made`) }),
      async () => false,
    );
    expect(denied.denials).toEqual([]);
    expect((await ended(() => ({ output: touched("/tmp/x") }))).denials).toEqual([]);
  });

  test("needs more than a permission if its name is protected", async () => {
    const { denials } = await ended(({ workspace }) => {
      mkdirSync(`${workspace}/.git`);
      return { output: `fatal: Unable to create '${workspace}/.git/index.lock': Read-only file system` };
    });
    expect(denials).toEqual([{ evidence: expect.stringContaining("protected") }]);
  });

  test.each([
    ["the home folder itself", ({ home }: Folders) => `${home}/new`],
    ["a parameter of the kernel", () => "/dev/null"],
    ["settings of the system", () => "/etc/new"],
    ["settings of programs", ({ home }: Folders) => `${home}/.config/git/config`],
    ["a start-up file", ({ home }: Folders) => `${home}/.ssh/authorized_keys`],
    ["Flint's own files", ({ outside }: Folders) => `${outside}/state/rules.jsonl`],
    ["a folder around Flint's own files", ({ outside }: Folders) => `${outside}/new`],
  ])("is not offered for %s", async (_name, pathOf) => {
    const isWritable = async () => true;
    const { denials } = await ended((at) => {
      for (const path of [`${at.home}/.ssh`, `${at.home}/.config`, `${at.outside}/state`]) mkdirSync(path);
      return { output: touched(pathOf(at)), locked: [`${at.outside}/state`] };
    }, isWritable);
    expect(denials).toEqual([{ evidence: expect.stringContaining("does not let commands write") }]);
  });
});

test("a lookup that failed is a denial only where there is no network and nothing was refused", async () => {
  const output = "curl: (6) Could not resolve host: registry.example\n";
  expect((await ended(() => ({ output }))).denials).toMatchObject([{ needs: { network: "all" } }]);
  const open = { type: "workspaceWrite", networkAccess: true } as const;
  expect((await ended(() => ({ output, policy: open }))).denials).toEqual([]);
  const refused = [{ host: "a.example", port: 443, reason: "it was declined" }];
  expect((await ended(() => ({ output, refused }))).denials).toEqual([
    { evidence: "Flint refused the connection to a.example:443: it was declined." },
  ]);
});

test("a refused connection counts whatever the command printed, and is offered only if there was no answer", async () => {
  const refused = { host: "a.example", port: 443, reason: "too many hosts wait", isUnanswered: true };
  const { denials } = await ended(() => ({ exitCode: 0, refused: [refused] }));
  expect(denials).toMatchObject([{ needs: { network: { hosts: ["a.example:443"] } } }]);
});

describeEachMechanism("a real command that the sandbox stopped, with %s", (mechanism, confined) => {
  async function run(script: string, policy: SandboxPolicy = { type: "workspaceWrite" }) {
    const home = await temporaryFolder();
    const sandbox = new CommandSandbox({
      ...{ environment: process.env, mechanisms: [mechanism], scopeFolder: home.join("state") },
    });
    onTestFinished(() => sandbox.closeScope("t"));
    const decide = async () => ({ allowed: false, reason: "it was declined" }) as const;
    const launched: LaunchResult = await sandbox.launch({
      ...{ command: ["sh", "-c", script], cwd: home.path, workspace: home.path, policy, itemId: "i" },
      ...{ scope: { id: "t", privateGit: false, decide }, onOutput: () => undefined },
    });
    return launched.denials;
  }

  confined("reports what the sandbox refused to it", async () => {
    const outside = newFolder();
    const write = [{ needs: { write: [outside] }, evidence: expect.stringContaining(`${outside}/made`) }];
    expect(await run(`touch ${outside}/made`)).toEqual(write);
    expect(await run(`echo > ${outside}/made`)).toEqual(write);
    const node = `node -e 'require("fs").writeFileSync("${outside}/made", "")'`;
    expect(await run(node, { type: "readOnly" })).toEqual(write);
    expect(await run("curl -s http://other.example/")).toEqual([
      { evidence: "Flint refused the connection to other.example:80: it was declined." },
    ]);
    expect(await run("curl --noproxy '*' -sS http://other.example/")).toMatchObject([
      { needs: { network: "all" } },
    ]);
  });

  confined("says that localhost is another machine inside, if a program listens there outside", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = (typeof address === "object" ? address?.port : undefined) ?? 0;
    const needed = [{ needs: { network: { hosts: [`localhost:${port}`] } }, evidence: expect.any(String) }];
    expect(await run(`curl -sS http://localhost:${port}/`)).toEqual(needed);
    expect(await run(`curl -sS http://127.0.0.1:${port}/`)).toEqual(needed);
    const presence = await announcePort(port);
    onTestFinished(() => presence.close());
    expect(await run(`curl -sS http://localhost:${port}/`)).toBeUndefined();
  });

  confined("reports nothing for a command that succeeded, or that failed for another reason", async () => {
    expect(await run("cat missing; false")).toBeUndefined();
    expect(await run("curl -sS http://localhost:5999/")).toBeUndefined();
    expect(await run("touch inside")).toBeUndefined();
  });
});
