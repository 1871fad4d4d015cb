import { expect, test } from "vitest";
import { modelTable } from "./models.ts";

const offline = { id: "flint/offline", displayName: "Offline", isDefault: true };

test("marks the default model, also if no agent lists it", () => {
  expect(modelTable([offline], "flint/offline")).toMatch(/^\* {2}flint\/offline {2}Offline$/m);
  const table = modelTable([offline], "flint/lab/zebra");
  expect(table).toMatch(/^ {3}flint\/offline/m);
  expect(table).toMatch(/^\* {2}flint\/lab\/zebra {2}not listed/m);
});
