import { FlintError } from "@flint/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LONGEST_KEY, LONGEST_PRIVATE_KEY } from "./keys.ts";
import { RedactedStream, Redactor, redact } from "./redactor.ts";

/** Assembled here, so that scanners for leaked keys do not find one in this repository. */
const letters = (length: number) => "aB3dE6gH9jK2mN5pQ8sT1vX4zC7".repeat(40).slice(0, length);
const pem = (kind: string) =>
  `-----BEGIN ${kind}-----\n${letters(64)}\n${letters(20)}==\n-----END ${kind}-----`;

const KEYS: Readonly<Record<string, readonly string[]>> = {
  "anthropic-key": [`sk-ant-api03-${letters(80)}`, "sk-ant-abcdefgh"],
  "api-key": [
    `sk-${letters(48)}`,
    `sk-proj-${letters(120)}`,
    `sk-or-v1-${letters(64)}`,
    `sk_live_${letters(24)}`,
    `glpat-${letters(20)}`,
    `hf_${letters(34)}`,
    `npm_${letters(36)}`,
  ],
  "github-token": ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"].map(
    (prefix) => prefix + letters(36),
  ),
  "aws-key": [`AKIA${letters(16).toUpperCase()}`, `ASIA${letters(16).toUpperCase()}`],
  "slack-token": ["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-"].map(
    (prefix) => `${prefix}1234567890-${letters(20)}`,
  ),
  "google-key": [`AIza${letters(35)}`],
  "private-key": [
    pem("PRIVATE KEY"),
    pem("RSA PRIVATE KEY"),
    pem("OPENSSH PRIVATE KEY"),
    pem("EC PRIVATE KEY"),
  ],
  token: [`eyJ${letters(20)}.eyJ${letters(40)}.${letters(43)}`],
};

const EVERY = Object.entries(KEYS).flatMap(([kind, keys]) => keys.map((key) => [kind, key] as const));

describe("Redactor", () => {
  test.each(EVERY)("removes a %s wherever it is in a text [P31]", (kind, key) => {
    const shown = `[redacted:${kind}]`;
    for (const [before, after] of [
      ["", ""],
      ["the key is ", "."],
      ["KEY=", "\n"],
      ['{"key":"', '"}'],
      ["first line\\n", "\\nlast"],
      ["\u001b[32m", "\u001b[0m"],
      ["https://x/?a=b&key=", "&c=d"],
    ]) {
      expect(redact(before + key + after, [])).toBe(before + shown + after);
    }
  });

  test("removes a bearer token, but not the word before it [P31]", () => {
    expect(redact(`Authorization: Bearer ${letters(40)}`, [])).toBe("Authorization: Bearer [redacted:token]");
    expect(redact(`authorization: bearer abc.${letters(20)}-_~+/==\r\n`, [])).toBe(
      "authorization: bearer [redacted:token]\r\n",
    );
  });

  test("removes every given secret of eight characters or more, the longest first [P31]", () => {
    const secrets = ["hunter2hunter2", "hunter2hunter2-and-more", "short", "spaces in it too", ""];
    const text = "a hunter2hunter2-and-more b xhunter2hunter2x c short d spaces in it too";
    expect(redact(text, secrets)).toBe(
      "a [redacted:secret] b x[redacted:secret]x c short d [redacted:secret]",
    );
  });

  test.each([
    "a task-force-of-2024-members-only",
    'class="sk-folding-cube sk-cube-grid-loader"',
    "the bearer of this letter",
    "sk-1",
    "ghp_short",
    "AKIA is where keys begin",
    "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
    "desk-0123456789abcdefXYZ",
    "eyJust.a.sentence",
  ])("leaves ordinary text unchanged: %j", (text) => {
    expect(redact(text, [])).toBe(text);
    expect(new RedactedStream(new Redactor([])).push(`${text}\n`)).toBe(`${text}\n`);
  });

  test("removes a private key without a footer as far as it looks like one", () => {
    expect(redact(`x -----BEGIN PRIVATE KEY-----\n${letters(60)}\n!! y`, [])).toBe(
      "x [redacted:private-key]!! y",
    );
  });

  test("redacts strings at any depth, but not ids and other names", () => {
    const key = `sk-${letters(48)}`;
    const redactor = new Redactor([]);
    const value = { id: key, turnId: key, cwd: key, list: [{ text: key, n: 1 }], none: null };
    expect(redactor.value(value)).toEqual({
      ...{ id: key, turnId: key, cwd: key, none: null },
      list: [{ text: "[redacted:api-key]", n: 1 }],
    });
    const plain = { a: ["b", { c: "d" }] };
    expect(redactor.value(plain)).toBe(plain);
  });

  test("redacts the message and data of errors", () => {
    const redactor = new Redactor(["correct horse"]);
    const failure = new FlintError("agentFailed", "Refused: correct horse", { said: "correct horse", at: 1 });
    expect(redactor.error(failure)).toMatchObject({
      ...{ kind: "agentFailed", message: "Refused: [redacted:secret]" },
      data: { said: "[redacted:secret]", at: 1 },
    });
    const harmless = new FlintError("agentFailed", "Refused.");
    expect(redactor.error(harmless)).toBe(harmless);
  });

  test("takes linear time on hostile text", () => {
    const before = process.cpuUsage();
    for (const piece of [
      "sk-",
      "eyJa-",
      "-----BEGIN PRIVATE KEY-----",
      "-",
      "Bearer ",
      "AKIA",
      "sk-a-",
      "\\n",
    ]) {
      const text = piece.repeat(200_000 / piece.length);
      redact(text, ["abcdefgh"]);
      redact(`${text}.`, ["--------x"]);
      new Redactor([]).unfinishedAt(`${text}.`);
    }
    // Of this process: others that keep the machine busy do not count.
    const { user } = process.cpuUsage(before);
    expect(user / 1000).toBeLessThan(5_000);
  });
});

/** Returns the visible text of a stream of these pieces. */
function streamed(pieces: readonly string[], secrets: readonly string[] = []): string {
  const stream = new RedactedStream(new Redactor(secrets));
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
}

/** Reports whether five consecutive characters after the first twelve are readable. */
function isRevealed(shown: string, secret: string): boolean {
  const body = secret.replace(/-----.*?-----/g, "").slice(12);
  return Array.from({ length: body.length - 4 }, (_, at) => body.slice(at, at + 5)).some((part) =>
    shown.includes(part),
  );
}

describe("RedactedStream", () => {
  test.each([...EVERY, ["bearer", `Bearer ${letters(40)}`] as const])(
    "holds back a %s that comes in two pieces, wherever it is split [P31]",
    (_kind, key) => {
      const text = `before ${key} after`;
      for (let cut = 0; cut <= text.length; cut += 1) {
        const shown = streamed([text.slice(0, cut), text.slice(cut)]);
        expect(shown).toMatch(/^before .*\[redacted:[a-z-]+\] after$/);
        expect(isRevealed(shown, key)).toBe(false);
      }
      expect(isRevealed(streamed([...text]), key)).toBe(false);
    },
  );

  test("holds back a given secret, except for its first three letters [P31]", () => {
    const secret = "s3cr3t-p4ssw0rd";
    const text = `the s3 is ${secret}, says s3cr`;
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(streamed([text.slice(0, cut), text.slice(cut)], [secret])).toMatch(
        /^the s3 is (s3?c?)?\[redacted:secret\], says s3cr$/,
      );
    }
    expect(streamed([...text], [secret])).toBe("the s3 is s3c[redacted:secret], says s3cr");
  });

  test("passes text without secrets unchanged, however it is split, and holds little of it back", () => {
    const words = fc.constantFrom(
      ...["task-1", "sk", "gh", "----", "Bear", "earer ", "corr", "A", "é😀", "words", "\\n", "\u001b[1m"],
      ...[" ", "\n", "=", ".", "-", "npm run x", "ASIA\n"],
    );
    const cuts = fc.array(fc.nat(5), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 20 }), cuts, (parts, sizes) => {
        const text = parts.join("");
        fc.pre(redact(text, []) === text);
        const pieces: string[] = [];
        let at = 0;
        for (const size of sizes) {
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        expect(streamed([...pieces, text.slice(at)], ["correct horse"])).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test("releases what only looked like a key once that is known, or at the end", () => {
    const stream = new RedactedStream(new Redactor(["password123"]));
    const shown = ["a task", " sk", "-lea", "rn pass", "age"].map((piece) => stream.push(piece));
    expect([...shown, stream.end()]).toEqual(["a task", " sk", "", "-learn ", "passage", ""]);
    expect([stream.push(" sk-"), stream.end()]).toEqual([" ", "sk-"]);
  });

  test("drops a key that never ends, and keeps only a little of it in memory", () => {
    const stream = new RedactedStream(new Redactor([]));
    const pieces = ["x sk-proj-", ...Array.from({ length: 50 }, () => letters(LONGEST_KEY / 8)), " on"];
    expect(pieces.map((piece) => stream.push(piece)).join("") + stream.end()).toBe("x [redacted:api-key] on");
    const endless = Array.from({ length: 40 }, () => `${letters(LONGEST_PRIVATE_KEY / 8)}\n`);
    expect(streamed(["-----BEGIN PRIVATE KEY-----\n", ...endless, "-- on"])).toBe(
      "[redacted:private-key]-- on",
    );
  });
});
