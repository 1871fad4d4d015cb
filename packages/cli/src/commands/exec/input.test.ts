import { writeFile } from "node:fs/promises";
import { LIMITS } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { imageInput, imageKind, readPiped, readSchema, textInput } from "./input.ts";

const texts = (positionals: readonly string[], piped?: string) =>
  textInput(positionals, piped).map((piece) => ("text" in piece ? piece.text : piece.type));

test("joins the words of the prompt", () => {
  expect(texts(["fix", "the", "tests"])).toEqual(["fix the tests"]);
});

test("uses piped text as context, or as the prompt without one", () => {
  expect(texts(["explain"], "a diff\n")).toEqual(["explain", "<stdin>\na diff\n</stdin>"]);
  expect([texts(["-"], "do it\n"), texts([], "do it\n")]).toEqual([["do it\n"], ["do it\n"]]);
  expect(texts(["explain"], " \n")).toEqual(["explain"]);
});

test("rejects a missing prompt and one that is too long", () => {
  expect(() => texts([])).toThrow("exec needs a prompt");
  expect(() => texts(["-"], "")).toThrow("needs a prompt on standard input");
  expect(() => texts(["é".repeat(LIMITS.prompt)])).toThrow(`has ${2 * LIMITS.prompt} bytes`);
  expect(() => texts(["x"], "y".repeat(LIMITS.prompt))).toThrow("The prompt has");
});

async function* pieces(...chunks: readonly (Buffer | string)[]) {
  yield* chunks;
}

test("reads standard input to its end, also across a split character", async () => {
  const bytes = Buffer.from("日本");
  expect(await readPiped(pieces(bytes.subarray(0, 2), bytes.subarray(2)), () => {})).toBe("日本");
});

test("rejects standard input that is not text or too long", async () => {
  await expect(readPiped(pieces(Buffer.from([0xff, 0xfe])), () => {})).rejects.toThrow("not UTF-8");
  const chunk = "x".repeat(LIMITS.prompt / 2);
  await expect(readPiped(pieces(chunk, chunk, "x"), () => {})).rejects.toThrow("has more than");
});

test("recognises an image by its content, not its name", async () => {
  const folder = await temporaryFolder();
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);
  await writeFile(folder.join("picture.txt"), png);
  await writeFile(folder.join("text.png"), "hello");
  expect(await imageInput(folder.join("picture.txt"))).toEqual({
    type: "localImage",
    path: folder.join("picture.txt"),
  });
  await expect(imageInput(folder.join("text.png"))).rejects.toThrow("is not an image");
  await expect(imageInput(folder.join("none.png"))).rejects.toThrow("none.png: ENOENT");
  await expect(imageInput(folder.path)).rejects.toThrow(": EISDIR");
});

test.each([
  ["jpeg", [0xff, 0xd8, 0xff, 0xe0]],
  ["gif", [...Buffer.from("GIF89a")]],
  ["webp", [...Buffer.from("RIFF1234WEBPVP8 ")]],
  [undefined, [...Buffer.from("RIFF1234WAVE")]],
  [undefined, []],
])("recognises %s by its first bytes", (kind, bytes) => {
  expect(imageKind(Uint8Array.from(bytes))).toBe(kind);
});

test("rejects a schema that is missing, not JSON, or not an object", async () => {
  const folder = await temporaryFolder();
  await writeFile(folder.join("good.json"), '{"type":"object"}');
  await writeFile(folder.join("list.json"), "[]");
  await writeFile(folder.join("bad.json"), "{");
  expect(await readSchema(folder.join("good.json"))).toEqual({ type: "object" });
  await expect(readSchema(folder.join("list.json"))).rejects.toThrow("must be a JSON Schema");
  await expect(readSchema(folder.join("bad.json"))).rejects.toThrow("is not JSON");
  await expect(readSchema(folder.join("none.json"))).rejects.toThrow("Cannot read --output-schema");
});
