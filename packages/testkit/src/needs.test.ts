import { expect, onTestFinished, test } from "vitest";
import { needs } from "./needs.ts";

/** Sets variables for one test. */
function withEnvironment(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name];
    process.env[name] = value;
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

needs("sh")("a test runs where its part is there", ({ task }) => {
  expect(task.name).toBe("a test runs where its part is there");
});

test("a part that is missing and required is an error that names it and the reason", () => {
  withEnvironment({ PATH: "/nowhere", FLINT_TEST_REQUIRE: "bwrap, git" });
  expect(() => needs("git")).toThrow(/FLINT_TEST_REQUIRE names git, but .*ENOENT/);
});

test("a missing part that is not required is not an error", () => {
  withEnvironment({ PATH: "/nowhere", FLINT_TEST_REQUIRE: "bwrap" });
  expect(() => needs("git")).not.toThrow();
});
