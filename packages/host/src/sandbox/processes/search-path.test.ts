import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../testing/fixture.ts";
import { outerSearchPath } from "./search-path.ts";

test("programs are not looked for where an agent could have put them", () => {
  const home = newFolder();
  const at = (...names: string[]) => join(home, ...names);
  for (const name of ["work/bin", "tools/bin", "env/bin", "other/node_modules/.bin"])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at("env/pyvenv.cfg"), "");
  symlinkSync(at("work/bin"), at("link"));
  const folders = [at("work/bin"), at("link"), at("env/bin"), at("other/node_modules/.bin"), "", ".", "bin"];
  const kept = [at("tools/bin"), at("missing"), "/usr/bin"];
  expect(outerSearchPath([...folders, ...kept].join(":"), [at("work")])).toBe(kept.join(":"));
});
