import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Bubblewrap } from "./bubblewrap.ts";
import { confine, isInside } from "./confinement.ts";

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "flint-confinement-")));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("the workspace is writable, and what steers agents and shells in it is not", async () => {
  const workspace = folder();
  mkdirSync(join(workspace, ".git"));
  mkdirSync(join(workspace, "source"));
  for (const name of [".mcp.json", ".bashrc", "README.md"]) writeFileSync(join(workspace, name), "");
  const { binds } = await confine({ type: "workspaceWrite" }, workspace, workspace);
  expect(binds.filter(({ path }) => isInside(path, workspace))).toEqual([
    { path: workspace, writable: true },
    { path: join(workspace, ".git"), writable: false },
    { path: join(workspace, ".mcp.json"), writable: false },
    { path: join(workspace, ".bashrc"), writable: false },
  ]);
});

test("a folder that the user lists is writable even inside a protected one", async () => {
  const workspace = folder();
  const listed = join(workspace, ".git", "info");
  mkdirSync(listed, { recursive: true });
  const { binds } = await confine({ type: "workspaceWrite", writableRoots: [listed] }, workspace, workspace);
  expect(binds.filter(({ path }) => isInside(path, workspace))).toEqual([
    { path: workspace, writable: true },
    { path: join(workspace, ".git"), writable: false },
    { path: listed, writable: true },
  ]);
});

test("links are resolved before anything is compared, and roots that do not exist are left out", async () => {
  const workspace = folder();
  const real = folder();
  const link = join(workspace, "link");
  symlinkSync(real, link);
  const policy = { type: "workspaceWrite" as const, writableRoots: [link, join(workspace, "missing")] };
  const { binds, cwd } = await confine(policy, workspace, link);
  expect(
    binds
      .filter(({ writable }) => writable)
      .map(({ path }) => path)
      .sort(),
  ).toEqual([workspace, real].sort());
  expect(cwd).toBe(real);
});

test("temporary folders are private unless the user made them writable", async () => {
  const workspace = folder();
  const { masks } = await confine({ type: "readOnly" }, workspace, workspace);
  expect(masks).toContain("/tmp");
  const opened = await confine({ type: "workspaceWrite", writableRoots: ["/tmp"] }, workspace, workspace);
  expect(opened.masks).not.toContain("/tmp");
});

test("network is on only where a writing policy says so", async () => {
  const network = async (policy: Parameters<typeof confine>[0]) => (await confine(policy, "/", "/")).network;
  expect(await network({ type: "readOnly" })).toBe(false);
  expect(await network({ type: "workspaceWrite" })).toBe(false);
  expect(await network({ type: "workspaceWrite", networkAccess: true })).toBe(true);
});

test("a neighbour whose name begins the same is not inside", () => {
  expect([isInside("/a/b", "/a"), isInside("/a", "/a"), isInside("/a", "/"), isInside("/ab", "/a")]).toEqual([
    ...[true, true, true, false],
  ]);
});

test("bubblewrap gets the binds after the masks, and gives no capability to anybody", () => {
  const confinement = {
    rootWritable: false,
    masks: ["/tmp"],
    binds: [
      { path: "/tmp/work", writable: true },
      { path: "/tmp/work/.git", writable: false },
    ],
    network: false,
    cwd: "/tmp/work",
  };
  const line = new Bubblewrap("/usr/bin/bwrap", "/bin").wrap(["ls", "--", "-x"], confinement).join(" ");
  expect(line).toContain(
    "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind /tmp/work /tmp/work --ro-bind /tmp/work/.git /tmp/work/.git",
  );
  expect(line).toContain("--unshare-net");
  expect(line).toContain("--cap-drop ALL --disable-userns --die-with-parent --new-session");
  expect(line.endsWith("sh /bin ls -- -x")).toBe(true);
  const online = new Bubblewrap("/usr/bin/bwrap", "/bin").wrap(["ls"], { ...confinement, network: true });
  expect(online).not.toContain("--unshare-net");
});
