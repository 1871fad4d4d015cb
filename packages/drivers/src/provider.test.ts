import { expect, test } from "vitest";
import { acpProfile } from "./acp/descriptor.ts";
import { builtInDrivers, KNOWN_AGENTS } from "./index.ts";

test("every agent names who serves its models, not itself [S0-17] [S0-86]", () => {
  expect(Object.fromEntries(KNOWN_AGENTS.map(({ id, provider }) => [id, provider]))).toEqual({
    ...{ claude: "anthropic", codex: "openai", opencode: "opencode", gemini: "google" },
    ...{ "claude-agent-acp": "anthropic", "codex-acp": "openai", goose: "goose" },
  });
  expect(acpProfile("lamp", ["lamp"]).provider).toBe("lamp");
  expect(acpProfile("mine", ["/opt/gemini"]).provider).toBe("google");
});

test("the provider of Flint's own agent is that of its model, and the offline model does not reason [S0-17] [S0-18]", () => {
  const access = { ollama: { baseUrl: "http://127.0.0.1:1" }, others: [], anthropic: { apiKey: "k" } };
  const [offline] = builtInDrivers();
  const [native] = builtInDrivers({ access });
  const named = ["flint", "flint/offline", "flint/openai/gpt", "flint/ollama/x"];
  expect(named.map((model) => native?.provider?.(model))).toEqual(["anthropic", "flint", "openai", "ollama"]);
  expect(offline?.provider?.("flint")).toBe("flint");
  expect(offline?.capabilities?.("flint")).toMatchObject({ reasoning: false, plans: true });
  expect(native?.capabilities?.("flint")).toMatchObject({ reasoning: true });
});
