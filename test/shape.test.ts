import { expect, test } from "vitest";
import { measureFile, quantile } from "../scripts/shape/measure.ts";

const functions = (source: string) =>
  measureFile("a.ts", source).functions.map(({ name, line, lines }) => [name, line, lines]);

test("functions, methods and arrow functions are found with their length", () => {
  const source = `export function first<T extends Map<string, T>>(value: T): Promise<Map<string, T[]>> {
  return later(() => {
    if (value) { return value; }
  });
}
class Second {
  async *#third(this: Second): AsyncIterable<{ a: number } | undefined> {
  }
  get fourth(): value is { a: 1 } { return 4; }
}
`;
  expect(functions(source)).toEqual([
    ["first", 1, 5],
    ["(arrow)", 2, 3],
    ["#third", 7, 2],
    ["fourth", 9, 1],
  ]);
});

test("control flow, calls, ternaries and cases are not taken for functions", () => {
  const source = `if (a) { } else if (b(c)) { }
for (const x of y) { }
while (z) { }
const d = e ? f(g) : { h: 1 };
switch (i) { case j(k): { break; } default: { if (l) { } } }
try { } catch (error) { }
do { } while (m);
`;
  expect(functions(source)).toEqual([]);
});

test("forced types are counted and look-alikes are not", () => {
  const source = `import { a as b } from "c"; import * as d from "e"; export { f as g };
const h = i as J; const k = [1] as const; const l = m as { n: string };
function o(p: any, q: Array<any>): unknown { return r!.s + t()! + (u !== v ? !w : x.any()); }
// y as Z, any, a!
const text = "y as Z: any";
`;
  const { casts, any, nonNull } = measureFile("a.ts", source);
  expect({ casts, any, nonNull }).toEqual({ casts: 2, any: 2, nonNull: 2 });
});

test("the share of documented exports counts declarations only", () => {
  const source = `/** Says what it is. */
export const a = 1;
export function b() {}
// no doc
export type C = string;
/** Yes. */
export abstract class D {}
export { a as e };
export * from "./f.ts";
export type { G } from "./g.ts";
`;
  const { exported, documented } = measureFile("a.ts", source);
  expect({ exported, documented }).toEqual({ exported: 4, documented: 2 });
});

test("quantiles are taken from the values there are", () => {
  expect([quantile([], 0.5), quantile([3, 1, 2], 0.5), quantile([1, 2, 3, 4], 0.95)]).toEqual([0, 2, 4]);
});
