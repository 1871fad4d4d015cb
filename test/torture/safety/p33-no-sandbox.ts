import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SkippedCase, type TortureCase } from "../case.ts";
import { count } from "../figures.ts";
import type { TortureServer } from "../server.ts";

const NO_NAMESPACES = "echo 0 > /proc/sys/user/max_user_namespaces";
const NO_CAPABILITIES = "setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all --";

/** An environment in which no sandbox can be built: no capabilities, no further namespaces. */
const CAGE = `unshare --user --map-root-user -- sh -c '${NO_NAMESPACES} && exec ${NO_CAPABILITIES} "$@"' sh`;

/** Starts a server where no sandbox can be built. */
export const noSandbox: TortureCase = {
  id: "P33",
  title: "without a sandbox, sandboxed policies refuse to run with the way out, and config/read says so",
  async run(context) {
    if (spawnSync("sh", ["-c", `${CAGE} true`]).status !== 0)
      throw new SkippedCase("namespaces", "needs user namespaces");
    const cwd = await context.folder();
    const args = ["--approval", "never", "--allow-unconfined"];
    const server = await context.start({ kind: "flint", cwd, args, before: `exec ${CAGE} "$@"` });
    const { sandbox } = await server.call("config/read", {});
    assert.equal(sandbox.available, false);
    assert.match(sandbox.detail ?? "", /bubblewrap: .*namespaces: .*apt-get install bubblewrap/s);

    for (const policy of ["read-only", "workspace-write"] as const) {
      const threadId = await server.startThread({ sandbox: policy });
      await server.runTurn(threadId, "run `touch ran`");
      const shown = JSON.stringify((await server.lastTurn(threadId)).items);
      assert.match(
        shown,
        /Did not run .*touch ran.*dangerFullAccess/s,
        `${policy} names the command and the way out`,
      );
    }
    await refusesDirectly(server);
    assert.equal(existsSync(join(cwd, "ran")), false, "nothing ran");

    const named = await server.startThread({ sandbox: "danger-full-access" });
    assert.equal((await server.runTurn(named, "run `touch ran`")).status, "completed");
    assert.equal(existsSync(join(cwd, "ran")), true, "it runs unconfined when that is asked for by name");
    await server.expectAlive(context.patience);
    return [count("policies refused", 2)];
  },
};

async function refusesDirectly(server: TortureServer): Promise<void> {
  const refused = server.call("command/exec", { command: ["touch", "ran"] });
  await assert.rejects(refused, /sandboxUnavailable|cannot be enforced here/);
}
