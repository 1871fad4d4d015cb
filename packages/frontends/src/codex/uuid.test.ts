import { describe, expect, test } from "vitest";
import { readUuid } from "./uuid.ts";

const UUID = "01a1e3d2-dd30-7cb2-8c3e-aadbcf749763";
const DIGITS = UUID.replaceAll("-", "");
const STRANGE =
  "invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found";

describe("an id of a thread, as the real server reads it", () => {
  test.each([
    UUID,
    UUID.toUpperCase(),
    DIGITS,
    DIGITS.toUpperCase(),
    `urn:uuid:${UUID}`,
    `urn:uuid:${UUID.toUpperCase()}`,
    `{${UUID}}`,
  ])("%s is one", (text) => {
    expect(readUuid(text)).toEqual({ uuid: UUID });
  });

  // Every answer was taken from the app-server of Codex 0.166.0.
  test.each([
    ["", "invalid length: expected length 32 for simple format, found 0"],
    [`${DIGITS}0`, "invalid length: expected length 32 for simple format, found 33"],
    ["{}", "invalid group count: expected 5, found 1"],
    ["urn:uuid:", "invalid group count: expected 5, found 1"],
    [`urn:uuid:${DIGITS}`, "invalid group count: expected 5, found 1"],
    [`{${DIGITS}}`, "invalid group count: expected 5, found 1"],
    [UUID.replace("-", ""), "invalid group count: expected 5, found 4"],
    [UUID.slice(1), "invalid group length in group 0: expected 8, found 7"],
    [`URN:UUID:${UUID}`, `${STRANGE} \`U\` at 1`],
    [`urn:uuid:{${UUID}}`, `${STRANGE} \`{\` at 10`],
    [`{${UUID}`, `${STRANGE} \`{\` at 1`],
    [`${UUID}}`, `${STRANGE} \`}\` at 37`],
    [` ${UUID}`, `${STRANGE} \` \` at 1`],
    [`../${UUID}`, `${STRANGE} \`.\` at 1`],
    [`${UUID}\0`, `${STRANGE} \`\0\` at 37`],
  ])("%j is none", (text, problem) => {
    expect(readUuid(text)).toEqual({ problem });
  });
});
