import { FakeEndpoint, MESSAGES, refuse } from "@flint/agent/testing";
import { isRecord } from "@flint/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandFixture } from "./flint.ts";

describe("flint limits", () => {
  test("says that nothing is known before an agent has reported anything", async () => {
    const { flint } = await commandFixture();
    const { code, stdout } = await flint(["limits"]);
    expect(stdout).toMatch(/^No usage limits have been reported yet\.\n/);
    expect(code).toBe(0);
    expect((await flint(["limits", "--json"])).stdout).toBe("[]\n");
  });

  test("[S0-84] shows the limit that an earlier run failed at, and when it resets", async () => {
    const rejected = MESSAGES.error("rate_limit_error", "Daily limit");
    const endpoint = await FakeEndpoint.start(refuse(429, rejected, { "retry-after": "7200" }));
    onTestFinished(() => endpoint.close());
    const { flint } = await commandFixture();
    const env = { ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: endpoint.url };
    const model = "flint/anthropic/claude-opus-5-5";
    const ran = await flint(["exec", "--json", "--model", model, "hello"], { env });
    expect(ran.code).not.toBe(0);
    const limit = { agent: "flint", account: "Anthropic", window: "rate limit", status: "reached" };
    const completed = ran.stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line))
      .find((event) => isRecord(event) && JSON.stringify(event).includes('"UsageLimitExceeded"'));
    expect(JSON.stringify(completed)).toContain('"window":"rate limit"');
    const { stdout } = await flint(["limits"]);
    expect(stdout).toMatch(/^AGENT +WINDOW +USED +RESETS\n/);
    expect(stdout).toMatch(/flint \(Anthropic\) +rate limit +reached +in (2 h 0|1 h 59) min \(\d{4}-/);
    expect(JSON.parse((await flint(["limits", "--json"])).stdout)).toMatchObject([
      { ...limit, source: "header" },
    ]);
  });
});
