import { mkdir, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { imageFromDataUrl, MAX_IMAGE_BYTES, readImage } from "./image.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1");

test.each([
  ["image/png", PNG.toString("latin1")],
  ["image/jpeg", "\xff\xd8\xff0000"],
  ["image/gif", "GIF89a0000"],
  ["image/webp", "RIFF0000WEBP"],
])("detects %s by content, whatever the file is called", async (mediaType, content) => {
  const { path } = await temporaryFolder();
  await writeFile(`${path}/a.txt`, Buffer.from(content, "latin1"));
  const base64 = Buffer.from(content, "latin1").toString("base64");
  expect(await readImage({ type: "localImage", path: "a.txt" }, path)).toEqual({ mediaType, base64 });
  expect(imageFromDataUrl(`data:image/bmp;base64,${base64}`)).toEqual({ mediaType, base64 });
});

test("rejects what is not an image, with the reason", async () => {
  const { path } = await temporaryFolder();
  await writeFile(`${path}/a.png`, "text");
  await mkdir(`${path}/folder`);
  const local = (name: string) => readImage({ type: "localImage", path: name }, path);
  expect(await local("a.png")).toEqual({ problem: "it is not a PNG, JPEG, GIF or WebP image" });
  for (const name of ["folder", "missing"])
    expect(await local(name)).toEqual({ problem: "it is not a plain file of at most 3.75 MB" });
  expect(imageFromDataUrl("https://example.org/a.png")).toEqual({
    problem: expect.stringContaining("not fetched"),
  });
  const large = `data:image/png;base64,${"A".repeat(2 * MAX_IMAGE_BYTES)}`;
  expect(imageFromDataUrl(large)).toEqual({ problem: "it is larger than 3.75 MB" });
});
