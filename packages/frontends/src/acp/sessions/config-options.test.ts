import type { ConfigOption } from "@flint/protocol";
import { expect, test } from "vitest";
import { NO_CAPABILITIES } from "../capabilities.ts";
import { configStateOf } from "./config-options.ts";

/** The values that an editor is offered for a number. */
function offered(number: Partial<ConfigOption>): unknown {
  const heat = { type: "number" as const, id: "heat", name: "Heat", options: [], value: "0.3", ...number };
  const { configOptions } = configStateOf({
    config: {
      ...{ model: "agent/one", cwd: "/code", approvalPolicy: "onRequest", durability: "none" },
      ...{ sandboxPolicy: { type: "workspaceWrite" }, sandbox: { available: true, mechanism: "fake" } },
      options: [heat],
    },
    ...{ models: [], capabilities: NO_CAPABILITIES, autoResume: false, editorFiles: false },
  });
  const option = configOptions.find(({ id }) => id === "heat");
  if (option?.type !== "select") return undefined;
  return option.options.map((choice) => ("value" in choice ? choice.value : choice.name));
}

test("an editor is offered the steps of a number, the current value among them", () => {
  expect(offered({ min: 0, max: 0.4, step: 0.1 })).toEqual(["0", "0.1", "0.2", "0.3", "0.4"]);
  expect(offered({ min: 0, max: 1, step: 0.5 })).toEqual(["0", "0.3", "0.5", "1"]);
});

test("of a number with too many values an editor is offered the current one", () => {
  expect(offered({ min: 0, max: 1, step: 0.001 })).toEqual(["0.3"]);
  expect(offered({})).toEqual(["0.3"]);
});
