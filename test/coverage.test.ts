import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { auditCitations, auditManifest, auditRows, auditTests } from "./requirements/audit.ts";
import { collectEvidence } from "./requirements/collect.ts";
import { renderRequirements } from "./requirements/render.ts";
import { SAFETY_CASES } from "./requirements/safety.ts";
import { REQUIREMENTS } from "./requirements.ts";
import { ROOT } from "./source/files.ts";

const evidence = collectEvidence(ROOT);

test("the manifest lists all 358 requirements once, each with a sentence", () => {
  expect(auditManifest(REQUIREMENTS)).toEqual([]);
  expect(REQUIREMENTS).toHaveLength(358);
});

test("the manifest lists all 38 safety cases once, each with a sentence", () => {
  expect(auditRows(SAFETY_CASES)).toEqual([]);
  expect(SAFETY_CASES.map((row) => row.id)).toEqual(
    Array.from({ length: 38 }, (_, index) => `P${String(index + 1).padStart(2, "0")}`),
  );
});

test("every requirement and safety case that is done has a test, and no test cites an unknown one", () => {
  expect(auditCitations([...REQUIREMENTS, ...SAFETY_CASES], evidence.citations)).toEqual([]);
});

test("no test is switched off or empty, and no group of tests cites what its tests should cite", () => {
  expect(auditTests(evidence)).toEqual([]);
});

test("docs/contributing/requirements.md shows the manifest and its tests as they are", () => {
  const page = readFileSync(join(ROOT, "docs/contributing/requirements.md"), "utf8");
  expect(page, "docs/contributing/requirements.md is out of date: run `npm run generate`").toBe(
    renderRequirements(evidence.citations),
  );
});
