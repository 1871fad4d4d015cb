import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfinedPolicy, isPathIn } from "@flint/protocol";
import { expect, onTestFinished, test } from "vitest";
import { Bubblewrap } from "./bubblewrap.ts";
import { confine } from "./confinement.ts";
import { firstProcess, UMASK_NAME } from "./launch.ts";

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "flint-confinement-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const nothing = async () => ({ protected: [], locked: [], pins: [] });

test("makes the workspace writable, and protected names in it read-only", async () => {
  const workspace = folder();
  const guarded = [join(workspace, ".git"), join(workspace, "deep", "er", ".git")];
  const guard = async (roots: readonly string[]) => {
    expect(roots).toEqual([workspace]);
    return { protected: [...guarded, "/outside/.git"], locked: [], pins: [] };
  };
  const { binds } = await confine({ policy: { type: "workspaceWrite" }, workspace, cwd: workspace }, guard);
  expect(binds.filter(({ path }) => isPathIn(path, workspace) || path.includes("outside"))).toEqual([
    { path: workspace, writable: true },
    ...guarded.map((path) => ({ path, writable: false })),
  ]);
});

test("makes a listed root writable even inside of a protected folder", async () => {
  const workspace = folder();
  const listed = join(workspace, ".git", "info");
  mkdirSync(listed, { recursive: true });
  const policy = { type: "workspaceWrite" as const, writableRoots: [listed] };
  const guard = async () => ({ protected: [join(workspace, ".git")], locked: [], pins: [] });
  const { binds } = await confine({ policy, workspace, cwd: workspace }, guard);
  expect(binds.filter(({ path }) => isPathIn(path, workspace))).toEqual([
    { path: workspace, writable: true },
    { path: join(workspace, ".git"), writable: false },
    { path: listed, writable: true },
  ]);
});

test("shows the folder of a link to a program, but not where the folder itself leads", async () => {
  const [workspace, beside, secret] = [folder(), folder(), folder()];
  symlinkSync("/bin/sh", join(beside, "claude"));
  const elsewhere = `${folder()}-link`;
  symlinkSync(secret, elsewhere);
  onTestFinished(() => rmSync(elsewhere));
  const programs = [join(beside, "claude"), join(elsewhere, "missing")];
  const { binds } = await confine(
    { policy: { type: "readOnly" }, workspace, cwd: workspace, programs },
    nothing,
  );
  expect(binds).toContainEqual({ path: beside, writable: false });
  expect(binds.map(({ path }) => path)).not.toContain(secret);
});

test("resolves links first, and leaves out roots that do not exist", async () => {
  const workspace = folder();
  const real = folder();
  const link = join(folder(), "link");
  symlinkSync(real, link);
  const policy = { type: "workspaceWrite" as const, writableRoots: [link, join(workspace, "missing")] };
  const { binds, cwd } = await confine({ policy, workspace, cwd: link }, nothing);
  expect(
    binds
      .filter(({ writable }) => writable)
      .map(({ path }) => path)
      .sort(),
  ).toEqual([workspace, real].sort());
  expect(cwd).toBe(real);
});

test("binds a nested root separately only if something around it is protected", async () => {
  const workspace = folder();
  const [nested, guarded] = [join(workspace, "a", "b"), join(workspace, ".git", "info")];
  for (const path of [nested, guarded]) mkdirSync(path, { recursive: true });
  const policy = { type: "workspaceWrite" as const, writableRoots: [nested, guarded] };
  const { binds } = await confine({ policy, workspace, cwd: workspace }, async () => ({
    protected: [join(workspace, ".git")],
    locked: [],
    pins: [],
  }));
  expect(binds.filter(({ writable }) => writable).map(({ path }) => path)).toEqual([workspace, guarded]);
});

test("rejects a root that a command could redirect, and says how to fix it [P32]", async () => {
  const [workspace, elsewhere] = [folder(), folder()];
  mkdirSync(join(elsewhere, "cache"));
  symlinkSync(elsewhere, join(workspace, "moved"));
  const policy = { type: "workspaceWrite" as const, writableRoots: [join(workspace, "moved", "cache")] };
  await expect(confine({ policy, workspace, cwd: workspace }, nothing)).rejects.toMatchObject({
    kind: "sandboxUnavailable",
    message: expect.stringContaining(`List ${elsewhere}/cache itself`),
  });
});

test("masks temporary folders unless they are writable roots", async () => {
  const workspace = folder();
  const { masks } = await confine({ policy: { type: "readOnly" }, workspace, cwd: workspace }, nothing);
  expect(masks).toContain("/tmp");
  const policy = { type: "workspaceWrite" as const, writableRoots: ["/tmp"] };
  const opened = await confine({ policy, workspace, cwd: workspace }, nothing);
  expect(opened.masks).not.toContain("/tmp");
});

test("enables the network only for a workspaceWrite policy that allows it", async () => {
  const network = async (policy: ConfinedPolicy) =>
    (await confine({ policy, workspace: "/", cwd: "/" }, nothing)).network;
  expect(await network({ type: "readOnly" })).toBe(false);
  expect(await network({ type: "workspaceWrite" })).toBe(false);
  expect(await network({ type: "workspaceWrite", networkAccess: true })).toBe(true);
});

test("compares whole names of folders", () => {
  expect([isPathIn("/a/b", "/a"), isPathIn("/a", "/a"), isPathIn("/a", "/"), isPathIn("/ab", "/a")]).toEqual([
    ...[true, true, true, false],
  ]);
});

test("bubblewrap mounts binds after masks and drops all capabilities", () => {
  const confinement = {
    rootWritable: false,
    masks: ["/tmp"],
    binds: [
      { path: "/tmp/work", writable: true },
      { path: "/tmp/work/.git", writable: false },
    ],
    privates: [],
    sockets: ["/var/agent.sock"],
    hidden: ["/var/secrets"],
    mounts: [{ source: "/state/git", target: "/tmp/work/.git", writable: true }],
    expected: [],
    network: false,
    cwd: "/tmp/work",
  };
  const line = new Bubblewrap("/usr/bin/bwrap", "/bin")
    .launchArguments(["ls", "--", "-x"], confinement)
    .join(" ");
  expect(line).toMatch(/--ro-bind \/ \/ --dev \/dev --proc \/proc .*--size \d+ --tmpfs \/tmp /);
  expect(line).toContain(
    "--tmpfs /tmp --bind /tmp/work /tmp/work --ro-bind /tmp/work/.git /tmp/work/.git --ro-bind /dev/null /var/agent.sock --tmpfs /var/secrets --remount-ro /var/secrets",
  );
  expect(line).toContain("--unshare-net");
  expect(line).toContain("--cap-drop ALL --disable-userns --die-with-parent --new-session");
  expect(line.endsWith("sh /bin ls -- -x")).toBe(true);
  const online = new Bubblewrap("/usr/bin/bwrap", "/bin").launchArguments(["ls"], {
    ...confinement,
    network: true,
  });
  expect(online).not.toContain("--unshare-net");
});

test("has nothing writable under readOnly, but for what one command was granted", async () => {
  const [workspace, granted] = [folder(), folder()];
  const request = { policy: { type: "readOnly" as const }, workspace, cwd: workspace };
  const writable = async (more: object) => {
    const { binds, rootWritable } = await confine({ ...request, ...more }, nothing);
    return [rootWritable, ...binds.filter((bind) => bind.writable).map(({ path }) => path)];
  };
  expect(await writable({})).toEqual([false]);
  expect(await writable({ grantedRoots: [granted] })).toEqual([false, granted]);
});

test("binds a workspace once that a program may write despite its policy", async () => {
  const workspace = folder();
  const request = { policy: { type: "readOnly" as const }, workspace, cwd: workspace };
  const { binds } = await confine({ ...request, ownPaths: [workspace] }, nothing);
  expect(binds.filter(({ path }) => path === workspace)).toEqual([{ path: workspace, writable: true }]);
});

test("rejects a granted folder that was removed or leads elsewhere than when it was approved", async () => {
  const [workspace, elsewhere] = [folder(), folder()];
  const moved = join(workspace, "moved");
  symlinkSync(elsewhere, moved);
  const run = (path: string) =>
    confine({ policy: { type: "workspaceWrite" }, workspace, cwd: workspace, grantedRoots: [path] }, nothing);
  await expect(run(moved)).rejects.toThrow(
    `${moved}, which it was allowed to write, leads to ${elsewhere} now`,
  );
  await expect(run(join(workspace, "gone"))).rejects.toThrow("is gone");
});

test("the first process checks by device, inode and mount that an opened folder is the one that was meant", () => {
  const path = folder();
  const { dev, ino } = statSync(path);
  const check = (node: string, isMounted: boolean) =>
    spawnSync(
      "/bin/sh",
      ["-c", firstProcess({ expected: [{ path, node, isMounted }] }), "sh", "/usr/bin:/bin", "true"],
      {
        encoding: "utf8",
        stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
        env: { [UMASK_NAME]: "022" },
      },
    );
  expect(check(`${dev}:${ino}`, false).status).toBe(0);
  for (const replaced of [check(`${dev}:${ino + 1}`, false), check(`${dev}:${ino}`, true)])
    expect(replaced).toMatchObject({
      status: 125,
      stderr: `flint: ${path} was replaced while the sandbox was set up\n`,
    });
});
