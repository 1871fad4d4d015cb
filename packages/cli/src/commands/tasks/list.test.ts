import { expect, test } from "vitest";
import { row } from "../../testing/task-row.ts";
import { taskFilter } from "./list.ts";

const TASKS = [
  row(1, "running"),
  row(2, "asking", { labels: ["gpu"] }),
  row(3, "approving", { addedBy: "bob" }),
  row(4, "done"),
];

test.each([
  [{}, [1, 2, 3]],
  [{ all: true }, [1, 2, 3, 4]],
  [{ asking: true }, [2, 3]],
  [{ mine: true }, [1, 2]],
  [{ mine: true, asking: true }, [2]],
  [{ mine: true, all: true }, [1, 2, 4]],
  [{ label: ["gpu"] }, [2]],
])("a list with %j shows tasks %j to ann", (values, shown) => {
  expect(TASKS.filter(taskFilter(values, "ann")).map(({ number }) => number)).toEqual(shown);
});
