import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { readToken, TokenFile } from "./token.ts";

test("creates a 256-bit token once, in a private file [P28]", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("state", "token");
  const first = TokenFile.open(path);
  const token = readFileSync(path, "utf8").trim();
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect([statSync(path).mode & 0o777, readdirSync(folder.join("state"))]).toEqual([0o600, ["token"]]);
  expect([
    first.matches(token),
    first.matches(`${token}x`),
    first.matches(token.slice(1)),
    first.matches(""),
  ]).toEqual([true, false, false, false]);
  TokenFile.open(path);
  expect(readToken(path)).toBe(token);
});

test("rejects a token file that other users can read, and every client while it is readable", async () => {
  const path = (await temporaryFolder()).join("token");
  const file = TokenFile.open(path);
  const token = readToken(path);
  chmodSync(path, 0o640);
  expect(file.matches(token)).toBe(false);
  expect(() => TokenFile.open(path)).toThrow(`chmod 600 ${path}`);
});

test("a changed token takes effect for the next client", async () => {
  const path = (await temporaryFolder()).join("token");
  const file = TokenFile.open(path);
  const old = readToken(path);
  writeFileSync(path, `${"n".repeat(40)}\n`);
  expect([file.matches(old), file.matches("n".repeat(40))]).toEqual([false, true]);
  rmSync(path);
  expect(file.matches("n".repeat(40))).toBe(false);
});

test.each(["", "short", "has spaces in it and is long enough for all", "x".repeat(2000)])(
  "rejects %j as a token",
  async (content) => {
    const path = (await temporaryFolder()).join("token");
    writeFileSync(path, content, { mode: 0o600 });
    expect(() => TokenFile.open(path)).toThrow("does not contain a valid token");
  },
);

test("accepts a link to a private file, as container secrets are", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("real"), "s".repeat(40), { mode: 0o600 });
  symlinkSync(folder.join("real"), folder.join("token"));
  expect(TokenFile.open(folder.join("token")).matches("s".repeat(40))).toBe(true);
});
