import { describe, expect, test } from "vitest";
import { HostRules, parseAuthority, parseHostRule, parseHttpUrl } from "./host-rules.ts";

/** Rules from text, as they would come from the command line. */
function rulesOf(allow: readonly string[], deny: readonly string[] = []): HostRules {
  const rules = new HostRules();
  for (const text of allow) rules.allow(ruleOf(text));
  for (const text of deny) rules.deny(ruleOf(text));
  return rules;
}

function ruleOf(text: string) {
  const parsed = parseHostRule(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

function judge(rules: HostRules, text: string) {
  const parsed = parseAuthority(text);
  return parsed.ok ? rules.judge(parsed.value) : parsed.reason;
}

describe("rules", () => {
  test.each([
    ["registry.example", { host: "registry.example", isWildcard: false }],
    ["Registry.Example:8443", { host: "registry.example", isWildcard: false, port: 8443 }],
    ["*.example.org", { host: "example.org", isWildcard: true }],
    ["*.example.org:22", { host: "example.org", isWildcard: true, port: 22 }],
    ["localhost:3000", { host: "localhost", isWildcard: false, port: 3000 }],
    ["xn--bcher-kva.example", { host: "xn--bcher-kva.example", isWildcard: false }],
    ["_acme.example", { host: "_acme.example", isWildcard: false }],
  ])("accepts %s", (text, value) => {
    expect(parseHostRule(text)).toEqual({ ok: true, value });
  });

  test.each([
    ["*", "stands for every host"],
    ["*:443", "stands for every host"],
    ["*.com", "too many hosts"],
    ["*.localhost:80", "too many hosts"],
    ["localhost", "needs its port"],
    ["", "host is missing"],
    ["a.*.example", '"*" may only stand at the beginning'],
    ["example.org:", "port must be"],
    ["example.org:0", "port must be"],
    ["example.org:65536", "port must be"],
    ["example.org:080", "port must be"],
    ["https://example.org", "without a scheme"],
    ["example.org/path", "without a scheme"],
    ["127.0.0.1", "IP address"],
    ["127.0.0.1:80", "IP address"],
    ["0177.0.0.1", "IP address"],
    ["0x7f.1", "IP address"],
    ["0x7f000001", "IP address"],
    ["2130706433", "IP address"],
    ["[::1]:80", "IPv6"],
    ["::1", "IPv6"],
    ["user@example.org", "user name"],
    ["evil.test\u0000.example.org", "special characters"],
    ["exa mple.org", "special characters"],
    ["example.org.", "not the name of a host"],
    ["example..org", "not the name of a host"],
    ["-a.example", "not the name of a host"],
    ["a%2eexample", "not the name of a host"],
    ["exämple.org", "xn--"],
    ["ｅxample.org", "xn--"],
    ["app.localhost:80", "localhost:3000"],
    [`${"a.".repeat(130)}example`, "253 characters"],
    [`${"a".repeat(64)}.example`, "not the name of a host"],
  ])("rejects %j with the reason", (text, reason) => {
    const parsed = parseHostRule(text);
    expect(parsed.ok ? parsed.value : parsed.reason).toContain(reason);
  });

  test("cover the ports of the web unless they name one", () => {
    const rules = rulesOf(["registry.example", "git.example:22"]);
    const asked = ["registry.example:443", "registry.example:80", "registry.example:22", "git.example:22"];
    expect(asked.map((text) => judge(rules, text))).toEqual(["allow", "allow", "unknown", "allow"]);
    expect(judge(rules, "git.example:443")).toBe("unknown");
  });

  test("with a wildcard cover hosts below the named one, not itself or lookalikes", () => {
    const rules = rulesOf(["*.example.org"]);
    const asked = ["a.example.org:443", "a.b.example.org:443", "example.org:443", "badexample.org:443"];
    expect(asked.map((text) => judge(rules, text))).toEqual(["allow", "allow", "unknown", "unknown"]);
  });

  test("that deny beat every rule that allows, on all ports", () => {
    const rules = rulesOf(["*.example.org", "secret.example.org:22"], ["secret.example.org", "a.test:25"]);
    expect(judge(rules, "secret.example.org:443")).toBe("deny");
    expect(judge(rules, "secret.example.org:22")).toBe("deny");
    expect(judge(rules, "open.example.org:443")).toBe("allow");
    expect([judge(rules, "a.test:25"), judge(rules, "a.test:443")]).toEqual(["deny", "unknown"]);
  });

  test("allow nothing when the list is empty", () => {
    expect(judge(rulesOf([]), "example.org:443")).toBe("unknown");
  });

  test("of a port of the user's machine cover that port only", () => {
    const rules = rulesOf(["localhost:3000"]);
    expect([judge(rules, "localhost:3000"), judge(rules, "localhost:3001")]).toEqual(["allow", "unknown"]);
  });
});

describe("targets", () => {
  test("are normalized to lower case", () => {
    expect(parseAuthority("Registry.EXAMPLE:443")).toEqual({
      ok: true,
      value: { host: "registry.example", port: 443 },
    });
  });

  test.each([
    "example.org",
    "example.org:",
    "example.org:99999",
    "127.0.0.1:80",
    "0x7f.1:80",
    "0177.1:80",
    "2130706433:80",
    "[::ffff:127.0.0.1]:80",
    "[::1]:80",
    "user:password@example.org:443",
    "evil.test\u0000.example.org:443",
    "example.org.:443",
    "*.example.org:443",
    "a.localhost:80",
    ":443",
    "",
  ])("of CONNECT like %j are rejected", (text) => {
    expect(parseAuthority(text)).toMatchObject({ ok: false });
  });

  test("of plain requests keep path and query", () => {
    const parsed = parseHttpUrl("HTTP://Example.org:8080/a?b=c");
    const endpoint = { host: "example.org", port: 8080 };
    expect(parsed).toEqual({ ok: true, value: { endpoint, path: "/a?b=c" } });
    expect(parseHttpUrl("http://example.org?q")).toMatchObject({
      value: { path: "/?q", endpoint: { port: 80 } },
    });
  });

  test.each([
    ["/", "this is a proxy"],
    ["https://example.org/", "CONNECT"],
    ["ftp://example.org/", "ftp cannot go through"],
    ["http://user@example.org/", "user name"],
    ["http://example.org/#fragment", "malformed"],
    ["http://example.org\\@evil.test/", "user name"],
    ["http://example.org/a b", "encoded"],
    ["http:///path", "host is missing"],
  ])("of plain requests like %j are rejected", (text, reason) => {
    const parsed = parseHttpUrl(text);
    expect(parsed.ok ? parsed.value : parsed.reason).toContain(reason);
  });
});
