import { expect, test } from "vitest";
import { type Line, lineOf, textOf } from "../draw/line.ts";
import { Pager } from "./pager.ts";

const LOOK = { columns: 40, rows: 6, colour: false, unicode: true };

test("a pager stays where it is read while lines are added, and follows at its end", () => {
  const lines: Line[] = Array.from({ length: 20 }, (_, at) => lineOf(`line ${at}`));
  const pager = new Pager({ title: "Thread", fromEnd: true, lines: () => lines });
  const shown = () => pager.draw(LOOK).rows.slice(1, -1).map(textOf);
  expect(shown().at(-1)).toBe("line 19");
  lines.push(lineOf("line 20"));
  expect(shown().at(-1)).toBe("line 20");
  pager.command("pageUp");
  const read = shown();
  lines.push(lineOf("line 21"), lineOf("line 22"));
  expect(shown()).toEqual(read);
  pager.command("toBottom");
  lines.push(lineOf("line 23"));
  expect(shown().at(-1)).toBe("line 23");
});
