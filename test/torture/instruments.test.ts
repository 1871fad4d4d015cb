import { expect, onTestFinished, test, vi } from "vitest";
import { readScript, scriptText, wordsText } from "../server/script-text.ts";
import { SkippedCase, type TortureCase } from "./case.ts";
import { FITTING_PARAMS, METHOD_NAMES, withEachIdReplaced } from "./every-method.ts";
import { brokenPromises, megabytes, milliseconds, none, quantile } from "./figures.ts";
import { malformed } from "./input/p01-malformed.ts";
import { faultsIn } from "./protocol-lines.ts";
import { ReceivedText } from "./received-text.ts";
import { runCase } from "./run-case.ts";

const delta = (offset: number, text: string) => ({
  method: "item/agentMessage/delta",
  params: { threadId: "t", turnId: "u", itemId: "i", delta: text, offset },
});

test("a time above its line is broken in a full run, and in a short one only far above it", () => {
  const figures = [milliseconds("p95", 300, 250), megabytes("memory +", 100, 64), none("lost", 0)];
  expect(brokenPromises(figures, false)).toEqual([
    "p95 300 ms (<=250) is above 250",
    "memory + 100 MB (<=64) is above 64",
  ]);
  expect(brokenPromises(figures, true)).toEqual(["memory + 100 MB (<=64) is above 96"]);
  expect(brokenPromises([milliseconds("p95", 1_001, 250)], true)).toHaveLength(1);
});

test("a quantile is one of the values", () => {
  expect([quantile([], 0.5), quantile([5, 1, 3], 0.5), quantile([1, 2, 3, 4], 0.95)]).toEqual([0, 3, 4]);
});

test("text that arrives twice counts once, and a gap is detected", () => {
  const received = ReceivedText.of([delta(0, "one "), delta(0, "one two "), delta(8, "three")]);
  expect([received.textOf("i"), received.holes]).toEqual(["one two three", 0]);
  received.take(delta(20, "later"));
  expect(received.holes).toBe(1);
});

test("a line that is not a protocol message is reported with the reason", () => {
  const good = [
    '{"id":1,"result":{}}',
    '{"id":null,"error":{"code":-32700,"message":"m"}}',
    JSON.stringify(delta(0, "text")),
  ];
  expect(faultsIn(good)).toEqual([]);
  const bad = [
    "hello",
    "42",
    "{}",
    '{"id":1}',
    '{"id":1,"result":1,"error":{"code":-32700}}',
    '{"id":1,"error":{"code":7}}',
    '{"method":"no/such"}',
    '{"method":"turn/completed","params":{}}',
    '{"id":1,"method":"turn/completed","params":{}}',
  ];
  expect(faultsIn(bad)).toHaveLength(bad.length);
});

test("a case passes, fails by its figures or an assertion, or is skipped with its reason", async () => {
  vi.stubEnv("FLINT_TEST_REQUIRE", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const caseOf = (run: TortureCase["run"]): TortureCase => ({ ...malformed, run });
  const verdicts = [
    await runCase(
      caseOf(async () => [none("lost", 0)]),
      true,
    ),
    await runCase(
      caseOf(async () => [none("lost", 1)]),
      true,
    ),
    await runCase(
      caseOf(() => Promise.reject(new Error("not so"))),
      true,
    ),
    await runCase(
      caseOf(() => Promise.reject(new SkippedCase("nothing", "no such part"))),
      true,
    ),
  ];
  expect(verdicts.map(({ result, reasons }) => [result, ...reasons])).toEqual([
    ["passed"],
    ["failed", "lost 1 (<=0) is above 0"],
    ["failed", "not so"],
    ["skipped", "no such part"],
  ]);
});

test("every method that takes an id gets a hostile one in the place of each", () => {
  expect(METHOD_NAMES).toHaveLength(Object.keys(FITTING_PARAMS).length);
  expect(withEachIdReplaced("thread/fork", "..")).toMatchObject([{ threadId: ".." }, { lastTurnId: ".." }]);
  expect(withEachIdReplaced("thread/queue/reorder", "..")).toMatchObject([
    { threadId: ".." },
    { queuedInputIds: [".."] },
  ]);
});

test("a script in a prompt is played step by step, and other text is echoed", () => {
  expect(readScript("hello")).toEqual([{ text: "You said: hello" }]);
  expect(readScript(scriptText({ text: "a" }, { deltas: 3, size: 2 }))).toEqual([
    { text: "a" },
    { deltas: 3, size: 2 },
  ]);
  expect(readScript(scriptText({ words: 2, everyMs: 1 }))).toHaveLength(2 + 2 * 2);
  expect(wordsText(3)).toBe("0 1 2 ");
});
