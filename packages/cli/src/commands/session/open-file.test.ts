import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { openImage } from "./open-file.ts";

const PIXEL = "iVBORw0KGgo=";

/** A desktop that notes what it is asked to open. */
async function desktop(exitCode = 0) {
  const { path: folder } = await temporaryFolder();
  const [program, log] = [join(folder, "viewer"), join(folder, "log")];
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${log}'\nexit ${exitCode}\n`);
  chmodSync(program, 0o755);
  return { folder, viewer: { cwd: folder, folder, program }, opened: () => readFileSync(log, "utf8") };
}

test("an image is given to the desktop as one argument, whatever its name", async () => {
  const { folder, viewer, opened } = await desktop();
  const name = "-a $(touch hacked) 'b'.png";
  writeFileSync(join(folder, name), "");
  await openImage(name, viewer);
  expect(opened()).toBe(`1\n${join(folder, name)}\n`);
});

test("an image in the conversation itself is written to a private file and opened", async () => {
  const { viewer } = await desktop();
  const path = await openImage(`data:image/png;base64,${PIXEL}`, viewer);
  expect(path).toMatch(/images\/[0-9a-f]{16}\.png$/);
  expect(readFileSync(path).toString("base64")).toBe(PIXEL);
});

test("an address of the web is opened as an address", async () => {
  const { viewer, opened } = await desktop();
  await openImage("https://example.org/a b.png", viewer);
  expect(opened()).toBe("1\nhttps://example.org/a%20b.png\n");
});

test("nothing that could be a program is opened", async () => {
  const { folder, viewer } = await desktop();
  writeFileSync(join(folder, "run.desktop"), "");
  symlinkSync(join(folder, "run.desktop"), join(folder, "cat.png"));
  await expect(openImage("run.desktop", viewer)).rejects.toThrow("its name is not that of an image");
  await expect(openImage("cat.png", viewer)).rejects.toThrow("its name is not that of an image");
  await expect(openImage("data:image/svg;base64,PHN2Zz4=", viewer)).rejects.toThrow(
    "type svg are not opened",
  );
  await expect(openImage("data:text/html,hi", viewer)).rejects.toThrow("no type that can be opened");
  await expect(openImage("none.png", viewer)).rejects.toThrow("none.png does not exist on this machine");
});

test("a desktop that cannot open it says where the image is", async () => {
  const { folder, viewer } = await desktop(3);
  writeFileSync(join(folder, "a.png"), "");
  await expect(openImage("a.png", viewer)).rejects.toThrow(`(exit code 3): ${join(folder, "a.png")}`);
});

test("the project's own xdg-open is not run", async () => {
  const { folder } = await desktop();
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  writeFileSync(join(folder, program), `#!/bin/sh\ntouch '${folder}/ran'\n`, { mode: 0o755 });
  writeFileSync(join(folder, "a.png"), "");
  vi.stubEnv("PATH", folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await expect(openImage("a.png", { cwd: folder, folder })).rejects.toThrow(
    `${join(folder, program)} is not used, because it is in a project.`,
  );
  expect(existsSync(join(folder, "ran"))).toBe(false);
});

test("the desktop's program finds no program of the project", async () => {
  const { folder, viewer, opened } = await desktop();
  writeFileSync(join(folder, "a.png"), "");
  const { path: other } = await temporaryFolder();
  writeFileSync(viewer.program, `#!/bin/sh\necho "$PATH" > '${folder}/log'\n`);
  vi.stubEnv("PATH", `${folder}:${other}:/bin`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await openImage("a.png", viewer);
  expect(opened()).toBe(`${other}:/bin\n`);
});
