import { writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { earlierUserMessage, userMessage } from "./images.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");
const IMAGE = { mediaType: "image/png", base64: PNG.toString("base64") };
const DATA = `data:image/jpeg;base64,${PNG.toString("base64")}`;

test("sends images with the message, with the type of their content", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a.jpg"), PNG);
  const message = await userMessage(
    [
      { type: "text", text: "Look." },
      { type: "localImage", path: "a.jpg" },
      { type: "image", url: DATA },
    ],
    folder.path,
  );
  expect(message).toEqual({
    role: "user",
    text: "Look.\n[image a.jpg]\n[image]",
    images: [IMAGE, IMAGE],
  });
});

test("names an image that cannot be loaded with the reason, and fetches nothing", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("text.png"), "not a picture");
  writeFileSync(folder.join("huge.png"), Buffer.concat([PNG, Buffer.alloc(4_000_000)]));
  const textFor = async (piece: Parameters<typeof userMessage>[0][number]) => {
    const message = await userMessage([piece], folder.path);
    expect(message).not.toHaveProperty("images");
    return message.text.split("\n").at(-1);
  };
  expect(await textFor({ type: "image", url: "https://x.example/a.png" })).toBe(
    "([image https://x.example/a.png]: images are not fetched from the web, so send the file itself.)",
  );
  expect(await textFor({ type: "localImage", path: "text.png" })).toMatch(
    /it is not a PNG, JPEG, GIF or WebP image/,
  );
  expect(await textFor({ type: "localImage", path: "huge.png" })).toMatch(/is too large/);
  expect(await textFor({ type: "localImage", path: "missing.png" })).toMatch(/does not exist/);
  expect(await textFor({ type: "localImage", path: "/dev/zero" })).toMatch(/belongs to the system/);
  expect(await textFor({ type: "image", url: "data:image/png;base64,%%%" })).toMatch(/it is not a PNG/);
});

test("limits the number of images and notes how many are left out", async () => {
  const input = Array.from({ length: 30 }, () => ({ type: "image" as const, url: DATA }));
  const message = await userMessage(input, "/");
  expect(message).toMatchObject({
    images: { length: 10 },
    text: expect.stringContaining("20 more images"),
  });
});

test("sends only embedded images of earlier messages again", () => {
  const message = earlierUserMessage([
    { type: "image", url: DATA },
    { type: "localImage", path: "a.png" },
  ]);
  expect(message).toEqual({
    role: "user",
    text: "[image]\n[image a.png]\n([image a.png]: it was shown earlier and is no longer here.)",
    images: [IMAGE],
  });
});
