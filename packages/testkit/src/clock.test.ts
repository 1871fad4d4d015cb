import { describe, expect, test } from "vitest";
import { TestClock } from "./clock.ts";

describe("a test clock", () => {
  test("advances only by advance()", () => {
    const clock = new TestClock(1000);
    expect([clock.now(), clock.now()]).toEqual([1000, 1000]);
  });

  test("runs what falls due in order of time, then of setting, each at its own moment", async () => {
    const clock = new TestClock(0);
    const ran: [string, number][] = [];
    clock.after(20, () => ran.push(["b", clock.now()]));
    clock.after(10, () => ran.push(["a", clock.now()]));
    clock.after(20, () => ran.push(["c", clock.now()]));
    clock.after(31, () => ran.push(["late", clock.now()]));
    await clock.advance(30);
    expect(ran).toEqual([
      ["a", 10],
      ["b", 20],
      ["c", 20],
    ]);
    expect([clock.now(), clock.pending]).toEqual([30, 1]);
  });

  test("runs a timer that another one set on the way", async () => {
    const clock = new TestClock(0);
    const ran: number[] = [];
    const again = (): void => {
      ran.push(clock.now());
      clock.after(10, again);
    };
    clock.after(10, again);
    await clock.advance(35);
    expect(ran).toEqual([10, 20, 30]);
  });

  test("lets promises settle between two timers", async () => {
    const clock = new TestClock(0);
    const fired: string[] = [];
    const work = async (name: string): Promise<void> => {
      await Promise.resolve();
      await Promise.resolve();
      fired.push(name);
    };
    const works: Promise<void>[] = [];
    clock.after(10, () => works.push(work("first")));
    clock.after(10, () => fired.push("second"));
    await clock.advance(10);
    expect(fired).toEqual(["first", "second"]);
    await Promise.all(works);
  });

  test("counts a timer that waiting code sets just before time moves", async () => {
    const clock = new TestClock(0);
    let ran = false;
    const setting = Promise.resolve().then(() =>
      clock.after(5, () => {
        ran = true;
      }),
    );
    await clock.advance(5);
    expect(ran).toBe(true);
    await setting;
  });

  test("does not run what was taken back, also when that happens on the way", async () => {
    const clock = new TestClock(0);
    const ran: string[] = [];
    const takeBack = clock.after(10, () => ran.push("never"));
    clock.after(5, takeBack);
    await clock.advance(100);
    takeBack();
    expect([ran, clock.pending]).toEqual([[], 0]);
  });
});
