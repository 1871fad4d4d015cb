import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { needs, temporaryFolder } from "@flint/testkit";
import { expect } from "vitest";
import { removeEscapingSymlinks } from "./escaping-symlinks.ts";

needs("sh")("removes links that lead elsewhere or nowhere, and nothing else", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(outside.join("startup"), "mine");
  symlinkSync("startup", outside.join("link"));
  mkdirSync(folder.join("sessions", "deep"), { recursive: true });
  writeFileSync(folder.join("sessions", "deep", "one.jsonl"), "1");
  const links: Readonly<Record<string, string>> = {
    ...{ "deep/startup": outside.join("startup"), folder: outside.path, dangling: outside.join("later") },
    ...{ parent: "../..", inside: "deep/one.jsonl" },
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, folder.join("sessions", name));
  symlinkSync(outside.path, folder.join("mine"));
  await removeEscapingSymlinks([folder.join("sessions"), folder.join("missing")], folder.path);
  expect(readdirSync(folder.join("sessions"), { recursive: true }).sort()).toEqual([
    "deep",
    "deep/one.jsonl",
    "inside",
  ]);
  expect(readdirSync(outside.path).sort()).toEqual(["link", "startup"]);
  expect([existsSync(folder.join("mine")), lstatSync(outside.join("link")).isSymbolicLink()]).toEqual([
    true,
    true,
  ]);
});
