import { readdirSync, statSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { TrustFile } from "./trust-file.ts";

test("trust that is given and taken at the same time is all kept, in a private file and no other", async () => {
  const folder = await temporaryFolder();
  const file = new TrustFile(folder.join("trust.json"));
  await file.change(new Map([["old", "1"]]));
  const given = Array.from({ length: 20 }, (_, at) => file.change(new Map([[`path-${at}`, `hash-${at}`]])));
  await Promise.all([...given, file.change(new Map([["old", undefined]]))]);
  const trusted = await file.read();
  expect(trusted.size).toBe(20);
  expect(trusted.get("path-7")).toBe("hash-7");
  expect(readdirSync(folder.path)).toEqual(["trust.json"]);
  expect(statSync(folder.join("trust.json")).mode & 0o777).toBe(0o600);
});

test("a change that cannot be written is said, and the next one is made all the same", async () => {
  const folder = await temporaryFolder();
  await mkdir(folder.join("trust.json"));
  const file = new TrustFile(folder.join("trust.json"));
  await expect(file.change(new Map([["a", "1"]]))).rejects.toThrow();
  await rmdir(folder.join("trust.json"));
  await file.change(new Map([["b", "2"]]));
  expect([...(await file.read())]).toEqual([["b", "2"]]);
  expect(readdirSync(folder.path)).toEqual(["trust.json"]);
});
