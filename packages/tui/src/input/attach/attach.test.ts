import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { droppedFiles } from "./attached-files.ts";
import { clipboardImage } from "./clipboard-image.ts";
import { droppedPaths } from "./dropped-paths.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("dropped paths", () => {
  test.each<[pasted: string, paths: readonly string[]]>([
    ["/tmp/a.png", ["/tmp/a.png"]],
    ["'/tmp/my file.png' ", ["/tmp/my file.png"]],
    ['"/tmp/a b.png" "/tmp/c.png"', ["/tmp/a b.png", "/tmp/c.png"]],
    ["/tmp/my\\ file\\ \\(1\\).png", ["/tmp/my file (1).png"]],
    ["/tmp/my file.png", ["/tmp/my file.png"]],
    ["/tmp/a.png /tmp/b.png", ["/tmp/a.png", "/tmp/b.png"]],
    ["file:///tmp/a%20b.png\n/tmp/c.png", ["/tmp/a b.png", "/tmp/c.png"]],
    ["~/a.png", ["/home/me/a.png"]],
    ["look at /tmp/a.png", []],
    ["'/tmp/a.png", []],
    ["file://elsewhere/a.png", []],
    ["", []],
    [`/${"x".repeat(10_000)}`, []],
  ])("%j", (pasted, paths) => expect(droppedPaths(pasted, "/home/me")).toEqual(paths));
});

describe("dropped files", () => {
  async function drop(pasted: (folder: string) => string) {
    const folder = await temporaryFolder();
    writeFileSync(folder.join("a picture.png"), PNG);
    writeFileSync(folder.join("fake.png"), "not an image");
    writeFileSync(folder.join("notes.md"), "text");
    mkdirSync(folder.join("src"));
    return {
      folder,
      files: await droppedFiles(pasted(folder.path), { folder: folder.path, home: undefined }),
    };
  }

  test("that are images are attached with name and size", async () => {
    const { folder, files } = await drop((path) => `${path}/a\\ picture.png`);
    const image = { name: "a picture.png", path: folder.join("a picture.png"), bytes: PNG.length };
    expect(files).toEqual([{ kind: "image", image }]);
  });

  test("that are something else are mentioned, relative to the workspace", async () => {
    const { files } = await drop((path) => `${path}/notes.md ${path}/src`);
    expect(files).toEqual([
      { kind: "mention", text: "@notes.md" },
      { kind: "mention", text: "@src/" },
    ]);
  });

  test("that only claim to be images are mentioned, and the reason is given", async () => {
    const { files } = await drop((path) => `${path}/fake.png`);
    expect(files).toMatchObject([{ kind: "mention", text: "@fake.png" }]);
    expect(files?.[0]).toHaveProperty(
      "problem",
      expect.stringContaining("fake.png cannot be sent as an image"),
    );
  });

  test("are known at once not to be in plain text", () => {
    expect(droppedFiles("look at this", { folder: "/", home: undefined })).toBeUndefined();
  });

  test("that do not exist are text", async () => {
    expect((await drop(() => "/usr/bin is on PATH")).files).toBeUndefined();
    expect((await drop((path) => `${path}/notes.md ${path}/gone.md`)).files).toBeUndefined();
  });
});

describe("the image of the clipboard", () => {
  const installed = async (name: string) => name;

  test("comes only from a program that was found outside of the project", async () => {
    const folder = await temporaryFolder();
    const planted = folder.join("wl-paste");
    writeFileSync(planted, `#!/bin/sh\ntouch '${folder.path}/ran'\n`, { mode: 0o755 });
    expect(await clipboardImage(folder.path, async () => undefined, [[planted]])).toEqual({
      problem: `To paste images, install one of: ${planted}.`,
    });
    expect(existsSync(folder.join("ran"))).toBe(false);
  });

  async function program(script: string) {
    const folder = await temporaryFolder();
    writeFileSync(folder.join("image.png"), PNG);
    writeFileSync(folder.join("paste"), `#!/bin/sh\ncd '${folder.path}'\n${script}\n`);
    chmodSync(folder.join("paste"), 0o755);
    return clipboardImage(folder.join("images"), installed, [["/no/such/program"], [folder.join("paste")]]);
  }

  test("is stored in a private file", async () => {
    const image = await program("cat image.png");
    expect(image).toMatchObject({ bytes: PNG.length, name: expect.stringMatching(/^pasted-.*\.png$/) });
    expect("path" in image && statSync(image.path).mode & 0o777).toBe(0o600);
  });

  test.each([
    ["nothing is in it", "exit 1", "There is no image in the clipboard."],
    [
      "it is no image",
      "echo text",
      "The clipboard's image cannot be sent: it is not a PNG, JPEG, GIF or WebP image.",
    ],
    ["it is too large", "cat /dev/zero", "The clipboard's image cannot be sent: it is larger than 3.75 MB."],
  ])("is a problem if %s", async (_name, script, problem) => {
    expect(await program(script)).toEqual({ problem });
  });

  test("needs a program, and says which", async () => {
    const folder = await temporaryFolder();
    expect(await clipboardImage(folder.path, installed, [["/no/such/wl-paste"]])).toEqual({
      problem: "To paste images, install one of: /no/such/wl-paste.",
    });
  });
});
