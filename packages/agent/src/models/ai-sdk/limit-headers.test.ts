import { expect, test } from "vitest";
import type { Failure } from "./failures.ts";
import { limitsInHeaders, limitsOfRejection } from "./limit-headers.ts";

const now = Date.UTC(2030, 0, 1);
const rejected: Failure = { error: { message: "m", errorInfo: "UsageLimitExceeded" }, isTransient: true };

test("a limit that is nearly used is read from the headers of Anthropic and of OpenAI", () => {
  const anthropic = new Headers({
    "anthropic-ratelimit-input-tokens-limit": "1000",
    "anthropic-ratelimit-input-tokens-remaining": "50",
    "anthropic-ratelimit-input-tokens-reset": "2030-01-01T00:01:00Z",
    "anthropic-ratelimit-requests-limit": "100",
    "anthropic-ratelimit-requests-remaining": "99",
  });
  expect(limitsInHeaders(anthropic, "Anthropic", now)).toEqual([
    {
      account: "Anthropic",
      window: "input tokens",
      usedPercent: 95,
      resetsAtMs: now + 60_000,
      status: "warning",
      source: "header",
    },
  ]);
  const openAi = new Headers({
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "6m0.5s",
  });
  expect(limitsInHeaders(openAi, "OpenAI", now)).toMatchObject([
    { window: "requests", usedPercent: 100, resetsAtMs: now + 360_500, status: "reached" },
  ]);
});

test("headers that make no sense are left out", () => {
  const headers = new Headers({
    "x-ratelimit-limit-requests": "-1",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-limit-tokens": "100",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "soon",
  });
  expect(limitsInHeaders(headers, "x", now)).toEqual([
    { account: "x", window: "tokens", usedPercent: 100, status: "reached", source: "header" },
  ]);
});

test("the delay that an endpoint asks for is the reset; a lack of credit has none", () => {
  expect(limitsOfRejection({ ...rejected, retryAfterMs: 300_000 }, new Headers(), "Anthropic", now)).toEqual([
    {
      account: "Anthropic",
      window: "rate limit",
      status: "reached",
      resetsAtMs: now + 300_000,
      source: "header",
    },
  ]);
  expect(limitsOfRejection({ ...rejected, isTransient: false }, undefined, "OpenAI", now)).toEqual([
    { account: "OpenAI", window: "credits", status: "reached", source: "frame", needsUser: true },
  ]);
  const other: Failure = { error: { message: "m", errorInfo: "BadRequest" }, isTransient: false };
  expect(limitsOfRejection(other, new Headers(), "OpenAI", now)).toEqual([]);
});
