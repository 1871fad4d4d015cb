import { describe, expect, test } from "vitest";
import { CONFIG_NAMES } from "./keys/table.ts";
import { ConfigError, parseConfig, parseKey } from "./parse.ts";

const GOOD = `
model = "flint/offline"           # a comment
approval_policy = "unless-trusted"
sandbox = "workspace-write"
network_access = true
writable_roots = ["/srv/cache"]
approval_timeout = 30.5

[budget.turn]
tokens = 1000
cost_usd = 0.5

[providers.local]
base_url = "http://127.0.0.1:8080/v1"
api_key_env = "LOCAL_KEY"

[mcp_servers.files]
command = "files-mcp"
args = ["--root", "/srv"]
env = { TOKEN = "{env:FILES_TOKEN}" }
`;

async function problems(text: string, level: "user" | "project" = "user"): Promise<string> {
  const error = await parseConfig(text, "config.toml", level).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return error instanceof Error ? error.message : "";
}

describe("a configuration file", () => {
  test("gives every key by its full name", async () => {
    const config = await parseConfig(GOOD, "config.toml", "user");
    expect(config.get("model")).toBe("flint/offline");
    expect(config.get("budget.turn.cost_usd")).toBe(0.5);
    expect(config.get("mcp_servers.*.args", "files")).toEqual(["--root", "/srv"]);
    expect(config.names("mcp_servers")).toEqual(["files"]);
    expect(config.names("providers")).toEqual(["local"]);
    expect(config.get("durability")).toBeUndefined();
  });

  test("names the line, the key and what was probably meant", async () => {
    expect(await problems('\nmodle = "x"\n')).toBe(
      'config.toml line 2: unknown key "modle". Did you mean "model"?',
    );
    expect(await problems("[budget.turn]\ntokns = 3\n")).toContain('Did you mean "tokens"?');
    expect(await problems("[telemetry]\non = true\n")).toContain(
      'unknown key "telemetry". Valid keys: model,',
    );
  });

  test("reports which values a key accepts when its value is invalid", async () => {
    expect(await problems('approval_policy = "sometimes"\n')).toBe(
      'config.toml line 1: approval_policy must be one of "never", "on-request", "unless-trusted", "always", not "sometimes".',
    );
    expect(await problems("[budget.turn]\ntokens = -1\n")).toContain(
      "must be a whole number above 0, not -1",
    );
    expect(await problems('[providers.x]\nbase_url = "ftp://x"\n')).toContain("http:// or https://");
  });

  test("reports all its problems at once", async () => {
    expect((await problems('modle = "x"\nsandbox = "open"\n')).split("\n")).toHaveLength(2);
  });

  test("names the line of a syntax error", async () => {
    expect(await problems('model = "x"\nsandbox = \n')).toMatch(/^config\.toml line 2: /);
  });

  test("of a project cannot set addresses, keys or what protects the user [P35]", async () => {
    for (const line of [
      '[providers.evil]\nbase_url = "http://evil.example"',
      "allow_unconfined = true",
      'policy_file = "allow-all.toml"',
      "[web]\nfetch = true",
      "approval_timeout = 1",
    ]) {
      expect(await problems(line, "project")).toContain("can only be set in your own configuration file");
    }
  });
});

test("every key has a description and its accepted values", async () => {
  const { CONFIG_KEYS } = await import("./keys/table.ts");
  for (const name of CONFIG_NAMES) {
    expect(CONFIG_KEYS[name].takes).not.toBe("");
    expect(CONFIG_KEYS[name].doc).toMatch(/\.$/);
  }
});

test("a model with a version in its name can have a price and a window", async () => {
  const text = '[models."gpt-6.1-sol"]\nprice_input = 10\ncontext_window = 400000\n';
  const config = await parseConfig(text, "c.toml", "user");
  expect(config.names("models")).toEqual(["gpt-6.1-sol"]);
  expect(config.get("models.*.price_input", "gpt-6.1-sol")).toBe(10);
  expect(config.entries()[0]).toEqual(['models."gpt-6.1-sol".price_input', 10]);
});

test("the names of other tables cannot contain a dot", async () => {
  expect(await problems('[providers."a.b"]\nbase_url = "http://x"\n')).toContain(
    'providers."a.b".base_url: a name cannot contain a dot.',
  );
});

test.each([
  ["models.gpt-6.1-sol.price_input", ["models", "gpt-6.1-sol", "price_input"]],
  ['models."codex/gpt-6.1".context_window', ["models", "codex/gpt-6.1", "context_window"]],
  ["budget.turn.tokens", ["budget", "turn", "tokens"]],
])("the key %s is read with the dots in the name of a model", (key, path) => {
  expect(parseKey(key)).toEqual(path);
});

describe("a price list with a mistake", () => {
  const model = '[models."custom/my-model"]\n';

  test.each([
    [
      "a misspelled price",
      "price_inptu = 3",
      /line 2: unknown key .*price_inptu.* Did you mean "price_input"\?/,
    ],
    [
      "a negative price",
      "price_output = -1",
      /price_output must be a number of US dollars, 0 or more, not -1/,
    ],
    [
      "a price in quotes",
      'price_input = "3"',
      /price_input must be a number of US dollars, 0 or more, not "3"/,
    ],
    ["a window of nothing", "context_window = 0", /context_window must be a whole number above 0, not 0/],
  ])("is rejected for %s", async (_name, line, message) => {
    expect(await problems(`${model}${line}\n`)).toMatch(message);
  });
});
