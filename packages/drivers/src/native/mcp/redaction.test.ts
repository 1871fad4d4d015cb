import { expect, test } from "vitest";
import { LastWords } from "./last-words.ts";
import { Redaction } from "./redaction.ts";

function stdio(env: Record<string, string>): Redaction {
  return new Redaction({ type: "stdio", name: "s", command: "c", args: [], env });
}

function http(url: string, headers: Record<string, string> = {}): Redaction {
  return new Redaction({ type: "http", name: "s", url, headers });
}

test("no value of the environment of a server is shown, in whole or line by line", () => {
  const redaction = stdio({ KEY: "sesame", PEM: "-----BEGIN\nabcdef\n-----END", LONGER: "sesame-open" });
  expect(redaction.apply("sesame-open, sesame; abcdef")).toBe("[hidden], [hidden]; [hidden]");
});

test("values too short to be secret stay, so that errors can be read", () => {
  expect(stdio({ DEBUG: "1", EMPTY: "", MODE: "on" }).apply("1 error on line 1")).toBe("1 error on line 1");
});

test("no header is shown, nor its token alone, nor a key in the address", () => {
  const redaction = http("https://me:pass@host/v1/0123456789abcdef?key=sesame", {
    authorization: "Bearer open-door",
  });
  const said = "Bearer open-door open-door me pass 0123456789abcdef sesame /v1";
  expect(redaction.apply(said)).toBe("[hidden] [hidden] me [hidden] [hidden] [hidden] /v1");
  expect(http("no address at all", {}).apply("no address at all")).toBe("[hidden]");
});

test("only the last lines of a server's errors are kept, also when it never stops", () => {
  const words = new LastWords();
  for (let line = 0; line < 50_000; line += 1) words.add(Buffer.from(`line ${line} of many\n\n`));
  expect(words.text(stdio({}))).toBe(
    Array.from({ length: 8 }, (_, at) => `line ${49_992 + at} of many`).join("\n"),
  );
  words.add(Buffer.from("x".repeat(1_000_000)));
  expect(words.text(stdio({}))).toBe("x".repeat(1000));
});

test("a secret at the edge of what is kept is not shown in part", () => {
  const words = new LastWords();
  words.add(Buffer.from(`${"sesame-open ".repeat(20_000)}`));
  expect(words.text(stdio({ KEY: "sesame-open" })).slice(-1000)).not.toContain("sesame");
});
