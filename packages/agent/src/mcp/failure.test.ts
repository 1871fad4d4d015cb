import { Readable } from "node:stream";
import { StderrTail } from "@flint/rpc/node";
import { expect, test } from "vitest";
import { Redaction } from "./failure.ts";
import { STDERR_CHARACTERS, stderrExcerpt } from "./transport/stdio-transport.ts";

function stdio(env: Record<string, string>): Redaction {
  return new Redaction({ type: "stdio", name: "s", command: "c", args: [], env });
}

function http(url: string, headers: Record<string, string> = {}): Redaction {
  return new Redaction({ type: "http", name: "s", url, headers });
}

test("hides the values of a server's environment, whole and line by line", () => {
  const redaction = stdio({ KEY: "sesame", PEM: "-----BEGIN\nabcdef\n-----END", LONGER: "sesame-open" });
  expect(redaction.apply("sesame-open, sesame; abcdef")).toBe("[hidden], [hidden]; [hidden]");
});

test("does not hide values that are too short to be secrets", () => {
  expect(stdio({ DEBUG: "1", EMPTY: "", MODE: "on" }).apply("1 error on line 1")).toBe("1 error on line 1");
});

test("hides headers, their tokens and keys in the URL", () => {
  const redaction = http("https://me:pass@host/v1/0123456789abcdef?key=sesame", {
    authorization: "Bearer open-sesame",
  });
  const text = "Bearer open-sesame open-sesame me pass 0123456789abcdef sesame /v1";
  expect(redaction.apply(text)).toBe("[hidden] [hidden] me [hidden] [hidden] [hidden] /v1");
  expect(http("no address at all", {}).apply("no address at all")).toBe("[hidden]");
});

test("shows only the last lines of a server's stderr", async () => {
  const lines = Array.from({ length: 50_000 }, (_, line) => `line ${line} of many\n\n`);
  expect(await shownOf(lines, stdio({}))).toBe(
    Array.from({ length: 8 }, (_, at) => `line ${49_992 + at} of many`).join("\n"),
  );
  expect(await shownOf([...lines, "x".repeat(1_000_000)], stdio({}))).toBe("x".repeat(1000));
});

test("does not show a part of a secret that was cut", async () => {
  const shown = await shownOf(["sesame-open ".repeat(20_000)], stdio({ KEY: "sesame-open" }));
  expect(shown.slice(-1000)).not.toContain("sesame");
});

async function shownOf(stderr: readonly string[], redaction: Redaction): Promise<string> {
  const words = new StderrTail(Readable.from(stderr), { maxCharacters: STDERR_CHARACTERS });
  await words.ended;
  return stderrExcerpt(words.text, redaction);
}
