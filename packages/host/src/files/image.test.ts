import { mkdir, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { embeddedPicture, PICTURE_BYTES, readPicture } from "./image.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1");

test.each([
  ["image/png", PNG.toString("latin1")],
  ["image/jpeg", "\xff\xd8\xff0000"],
  ["image/gif", "GIF89a0000"],
  ["image/webp", "RIFF0000WEBP"],
])("a picture is taken for %s by its content, whatever it is called", async (mediaType, content) => {
  const { path } = await temporaryFolder();
  await writeFile(`${path}/a.txt`, Buffer.from(content, "latin1"));
  const base64 = Buffer.from(content, "latin1").toString("base64");
  expect(await readPicture({ type: "localImage", path: "a.txt" }, path)).toEqual({ mediaType, base64 });
  expect(embeddedPicture(`data:image/bmp;base64,${base64}`)).toEqual({ mediaType, base64 });
});

test("what is no picture is refused with the reason", async () => {
  const { path } = await temporaryFolder();
  await writeFile(`${path}/a.png`, "text");
  await mkdir(`${path}/folder`);
  const local = (name: string) => readPicture({ type: "localImage", path: name }, path);
  expect(await local("a.png")).toEqual({ problem: "it is no PNG, JPEG, GIF or WebP picture" });
  for (const name of ["folder", "missing"])
    expect(await local(name)).toEqual({ problem: "it is no plain file of at most 3.75 MB" });
  expect(embeddedPicture("https://example.org/a.png")).toEqual({
    problem: expect.stringContaining("not fetched"),
  });
  const large = `data:image/png;base64,${"A".repeat(2 * PICTURE_BYTES)}`;
  expect(embeddedPicture(large)).toEqual({ problem: "it is larger than 3.75 MB" });
});
