import { expect, test } from "vitest";
import { REQUIREMENTS } from "../requirements.ts";
import { auditCitations, auditManifest, auditRows, auditTests } from "./audit.ts";
import { gatherEvidence } from "./collect.ts";
import { renderRequirements } from "./render.ts";

const done = (id: string) => ({ id, behaviour: "Holds", status: "done" }) as const;
const planned = (id: string) => ({ id, behaviour: "Will hold", status: "planned" }) as const;

test("a done row that no test cites is named", () => {
  const { citations } = gatherEvidence(new Map([["a.test.ts", 'test("x [S0-1]", body)']]));
  expect(auditCitations([done("S0-1"), done("S0-2"), done("S0-3"), planned("S0-4")], citations)).toEqual([
    "done, but no test cites: S0-2, S0-3",
  ]);
});

test("a citation of an unknown id is named with its files", () => {
  const source = 'test("x [S0-1, S0-7]", body)';
  const { citations } = gatherEvidence(
    new Map([
      ["a.test.ts", source],
      ["b.test.ts", source],
    ]),
  );
  expect(auditCitations([done("S0-1")], citations)).toEqual([
    "unknown id S0-7, cited in a.test.ts, b.test.ts",
  ]);
});

test("only torture files may cite by naming a case", () => {
  const source = 'export const flood = { id: "P07" }';
  const { citations } = gatherEvidence(
    new Map([
      ["test/torture/load.ts", source],
      ["test/other.ts", source],
    ]),
  );
  expect([...citations]).toEqual([["P07", ["test/torture/load.ts"]]]);
});

test("ids of groups, tests that are switched off and empty tests are named", () => {
  const source = `describe("x [S0-1]", () => { test.skip("a", body); test("b", () => {}); });`;
  expect(auditTests(gatherEvidence(new Map([["a.test.ts", source]])))).toEqual([
    "S0-1 is cited by a describe, which proves nothing: a.test.ts",
    "switched off, or keeps others from running: a.test.ts:1",
    "empty: a.test.ts:1",
  ]);
});

test("repeated ids, planned rows without a subject and empty sentences are named", () => {
  expect(
    auditRows([done("S0-1"), done("S0-1"), planned("S0-2"), { ...done("S0-3"), behaviour: " " }]),
  ).toEqual([
    "listed more than once: S0-1",
    "planned, but no subject is named: S0-2",
    "without a sentence: S0-3",
  ]);
});

test("a missing row and a row too many are named", () => {
  const extra = { id: "S1-40", source: "S1", behaviour: "Holds", status: "done" } as const;
  const rows = [...REQUIREMENTS.filter((row) => row.id !== "S1-7"), extra];
  expect(auditManifest(rows)).toEqual(["missing from S1, which has 39: S1-7", "beyond the 39 of S1: S1-40"]);
});

test("the page shows every row with its state and links to its tests", () => {
  const page = renderRequirements(
    new Map([["S0-13", ["packages/core/src/a.test.ts", "test/e2e/b.test.ts"]]]),
  );
  expect(page).toContain(
    "| S0-13 | Anything before initialize is refused | done | [core/src/a.test.ts](../../packages/core/src/a.test.ts)" +
      "<br>[e2e/b.test.ts](../../test/e2e/b.test.ts) |",
  );
  expect(page.split("\n").filter((line) => /^\| [SP]\d+(-\d+)? \|.*\|.*\|.*\|$/.test(line))).toHaveLength(
    358 + 38,
  );
});
