/** The npm package of an agent, in the version that Flint is tested with. */
export interface AgentPackage {
  readonly name: string;
  readonly version: string;
  /** The file that is run, below node_modules. */
  readonly file: string;
  /**
   * The integrity hashes that npm must have checked the archives of these packages against, by their folders
   * below node_modules.
   */
  readonly integrity: Readonly<Record<string, string>>;
}

interface PackageRow {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly file: string;
  /**
   * The packages that hold its program for each platform: their names without the platform, and the hash of
   * each.
   */
  readonly perPlatform?: { readonly prefix: string; readonly integrity: Readonly<Record<string, string>> };
}

const PLATFORM = `${process.platform}-${process.arch}`;

/** Claude Code: its program is in the package of the platform, so no install script has to put it elsewhere. */
export const CLAUDE_PACKAGE: AgentPackage | undefined = onThisPlatform({
  name: "@anthropic-ai/claude-code",
  version: "2.1.197",
  integrity:
    "sha512-EqrwbRcI7M5y8jQlayIfTMmbZJ2OQaLOc7KwIWKdryQCdKWUEFr+C9rMovZUuj2Asndi7aqLujEzRtr471gncg==",
  file: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
  perPlatform: {
    prefix: "@anthropic-ai/claude-code",
    integrity: {
      "linux-x64":
        "sha512-rIlKmrY0QMyHgPRX/MYWNj039vbypICvI9jVe3rs9Xy2RnNklySjyPxqh62QadznzoftEO23uYQ1tFePcQ//bg==",
      "linux-arm64":
        "sha512-sx6SoGj3MNR5CV+YDkNtbLHXa1tn3G8qcYFgm1gnvOi9ODQUKbhiPfankJfkTMDVekOvnKJhm6i9hGFIPzp7cQ==",
      "darwin-x64":
        "sha512-DOPeGTQqJWVENJsxwMxJtLOx+7OBINEDg9trQldlJR1nBssaYzNj1WWxp37JYSBRjeYLhqLipvDqEA0LMglL7A==",
      "darwin-arm64":
        "sha512-1FOVhJzkKGWgOEEsvaK3ylCEmjKeJiXwfKl7RtNEbiDj7OxhRQ1G1CLN0HGDTTq1QwY+Dm2x1Yscdv5NfobAxQ==",
    },
  },
});

/** Codex: its package starts the program in the package of the platform. */
export const CODEX_PACKAGE: AgentPackage | undefined = onThisPlatform({
  name: "@openai/codex",
  version: "0.166.0",
  integrity:
    "sha512-2Szlp1l1cz5TX1ccpX4Zok3DZrot9xeZe0km+6/1v8JmqxADwyJxKBJah4dBymkwtS25j/u6dipJusTOI97Z8Q==",
  file: ".bin/codex",
  perPlatform: {
    prefix: "@openai/codex",
    integrity: {
      "linux-x64":
        "sha512-CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw==",
      "linux-arm64":
        "sha512-w0ScAsBr9aZKtIFrh6HN6KU2yjKKeSCzYfbb7DB0Ccj4BYPzeZtUeQprbycLCwuX3AFQdbdjapmLho2iot74jQ==",
      "darwin-x64":
        "sha512-Vj5wXJPizKmrzNtnRNQf9PP6FJkG3iJU/UO3NE4WvkENZGoQfmImdwf4MVRI5NgwjSuC6LT0HbBRHPVVnwGHuw==",
      "darwin-arm64":
        "sha512-5fWH6qqUInACcRADIewjlnRxDb4QLe0uriwehiZz0+viuAAB8I+WWefqw4xwHvyKaxeiGX4uK56+vrgfvFk3FQ==",
    },
  },
});

/** OpenCode: its program is in the package of the platform. */
export const OPENCODE_PACKAGE: AgentPackage | undefined = onThisPlatform({
  name: "opencode-ai",
  version: "1.18.33",
  integrity:
    "sha512-58P1ffLRXiAY4QeoABqUjqf6DEzm1ihpovvn9Ad+oOLbLiwK/rf88wruT9IATJ7AtNjmi8iA7pC8tN4o5y799Q==",
  file: `opencode-${PLATFORM}/bin/opencode`,
  perPlatform: {
    prefix: "opencode",
    integrity: {
      "linux-x64":
        "sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==",
    },
  },
});

/** Gemini. */
export const GEMINI_PACKAGE: AgentPackage | undefined = onThisPlatform({
  name: "@google/gemini-cli",
  version: "0.61.0",
  integrity:
    "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
  file: ".bin/gemini",
});

/** Claude Code over ACP. */
export const CLAUDE_ACP_PACKAGE: AgentPackage | undefined = onThisPlatform({
  name: "@agentclientprotocol/claude-agent-acp",
  version: "0.99.1",
  integrity:
    "sha512-tK5lNtoI85IS0K8PVKYK86t/ARgCS1AjEw+u6QSNmdu0tbhyeB6FTNzFnGNIgsL/3xYwrQUMFDC6osT1aIPReQ==",
  file: ".bin/claude-agent-acp",
});

/** Codex over ACP. */
export const CODEX_ACP_PACKAGE: AgentPackage | undefined = onThisPlatform({
  name: "@agentclientprotocol/codex-acp",
  version: "2.6.0",
  integrity:
    "sha512-/PBsd0H6URy4bhXhAeXqwb7RqctbXfNceRihAh6nDmn5HJ873uzoHvHxF45YmeWfgOKKRrNRLZjYsket2a7EsQ==",
  file: ".bin/codex-acp",
});

/** The package on this platform; undefined if it has no program for it that Flint could check. */
function onThisPlatform({
  name,
  version,
  integrity,
  file,
  perPlatform,
}: PackageRow): AgentPackage | undefined {
  if (perPlatform === undefined) return { name, version, file, integrity: { [name]: integrity } };
  const { prefix, integrity: hashes } = perPlatform;
  const hash = hashes[PLATFORM];
  if (hash === undefined) return undefined;
  return { name, version, file, integrity: { [name]: integrity, [`${prefix}-${PLATFORM}`]: hash } };
}
