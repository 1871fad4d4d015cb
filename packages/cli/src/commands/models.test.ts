import { expect, test } from "vitest";
import { modelTable } from "./models.ts";

const offline = { id: "flint/offline", displayName: "Offline", isDefault: true };

test("marks the default model, also if no agent lists it", () => {
  expect(modelTable([offline], "flint/offline")).toMatch(/^\* {2}flint\/offline {2}Offline$/m);
  const table = modelTable([offline], "flint/lab/zebra");
  expect(table).toMatch(/^ {3}flint\/offline/m);
  expect(table).toMatch(/^\* {2}flint\/lab\/zebra {2}not listed/m);
});

test("shows what is known of a model", () => {
  const meta = { contextWindow: 400_000, price: { input: 1.25, output: 10 } };
  const table = modelTable([{ ...offline, description: "Fast.", meta }], undefined);
  expect(table).toContain("Fast. 400K tokens of context. $1.25 in, $10 out per million tokens.");
});
