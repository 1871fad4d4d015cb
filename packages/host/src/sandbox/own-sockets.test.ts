import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";

const ONLINE: SandboxPolicy = { type: "workspaceWrite", networkAccess: true };

/** In /tmp: elsewhere, other tests that run now would cover the sockets in it, which are gone in a moment. */
function newFolder(base = "/tmp"): string {
  const path = realpathSync(mkdtempSync(join(base, "flint-socket-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Somebody who answers whoever connects. */
async function listenAt(path: string): Promise<void> {
  const server = createServer((socket) => socket.end("reached"));
  await new Promise<void>((listening) => server.listen(path, listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
}

const CONNECT = `node -e 'require("net").connect(process.argv[1]).on("data", (d) => console.log(String(d))).on("error", () => 0)'`;

describeEachMechanism("a socket of Flint's own, confined by %s", (name, test) => {
  function printedBy(workspace: string, sockets: readonly string[]) {
    const sandbox = new CommandSandbox({
      environment: process.env,
      mechanisms: [name],
      guarded: { sockets },
    });
    return async (lines: readonly string[], policy: SandboxPolicy = ONLINE): Promise<string> => {
      let text = "";
      const output = (piece: string) => {
        text += piece;
      };
      const script = ["exec 2>/dev/null", ...lines, "echo done"].join("\n");
      await sandbox.launch({
        command: ["sh", "-c", script],
        cwd: workspace,
        workspace,
        policy,
        onOutput: output,
      });
      return text;
    };
  }

  test("in the workspace is not reached by commands there; that of another program is", async () => {
    const workspace = newFolder();
    const [own, other] = [join(workspace, "flint.sock"), join(workspace, "database.sock")];
    await listenAt(own);
    await listenAt(other);
    const printed = printedBy(workspace, [own, join(workspace, "not-yet.sock")]);
    const ways = [
      `${CONNECT} ${own}`,
      `umount ${own} && ${CONNECT} ${own}`,
      `ln ${own} ${own}.link && ${CONNECT} ${own}.link`,
      `mv ${own} ${own}.moved && ${CONNECT} ${own}.moved`,
    ];
    expect(await printed([...ways, `${CONNECT} ${other}`])).toBe("reached\ndone\n");
    expect(await printed(ways, { type: "readOnly" })).toBe("done\n");
  });

  test("stays out of reach when a command moves the folder that it lies in", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, "deep", "run"), { recursive: true });
    const own = join(workspace, "deep", "run", "flint.sock");
    await listenAt(own);
    const printed = printedBy(workspace, [own]);
    const moves = [`mv ${workspace}/deep/run ${workspace}/run`, `mv ${workspace}/deep ${workspace}/moved`];
    expect(await printed(moves)).toBe("done\n");
    const places = ["deep/run", "moved/run", "run"].map((folder) => `${workspace}/${folder}/flint.sock`);
    expect(await printed(places.map((path) => `${CONNECT} ${path}`))).toBe("done\n");
  });

  test("that is named through a link which commands could change lets none of them run", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, "real"));
    symlinkSync("real", join(workspace, "link"));
    await listenAt(join(workspace, "real", "flint.sock"));
    const printed = printedBy(workspace, [join(workspace, "link", "flint.sock")]);
    await expect(printed([])).rejects.toThrow("it is a link");
  });

  test("in a folder that commands cannot see is ignored", async () => {
    const workspace = newFolder();
    const unseen = [newFolder("/dev/shm"), newFolder()].map((folder) => join(folder, "flint.sock"));
    for (const path of unseen) await listenAt(path);
    const printed = printedBy(workspace, unseen);
    expect(await printed(unseen.map((path) => `${CONNECT} ${path}`))).toBe("done\n");
  });
});
