import { expect, test } from "vitest";
import { releasedChangelog, releasedManifest } from "../scripts/release/version.mjs";

test("a release moves what is unreleased under its version", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n- a fix\n\n## 0.1.0 - 2026-01-01\n\n- all\n";
  expect(releasedChangelog(changelog, "0.2.0", "2026-02-03")).toBe(
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-02-03\n\n- a fix\n\n## 0.1.0 - 2026-01-01\n\n- all\n",
  );
});

test.each(["# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- all\n", "# Changelog\n"])(
  "a release without notes is rejected",
  (changelog) => {
    expect(() => releasedChangelog(changelog, "0.2.0", "2026-02-03")).toThrow("nothing to release");
  },
);

test("a release sets the version of a package and of the workspace packages it depends on", () => {
  const manifest = {
    name: "flint",
    version: "0.1.0",
    dependencies: { zod: "^4.0.0" },
    devDependencies: { "@flint/sdk": "0.1.0" },
  };
  expect(JSON.parse(releasedManifest(JSON.stringify(manifest), "0.2.0"))).toEqual({
    ...manifest,
    version: "0.2.0",
    devDependencies: { "@flint/sdk": "0.2.0" },
  });
});
