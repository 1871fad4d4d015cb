import { describe, expect, test } from "vitest";
import {
  HostRules,
  hostRulesOverlap,
  parseAuthority,
  parseHostRule,
  parseHttpUrl,
  parseNetworkRule,
  withoutAddresses,
} from "./host-rules.ts";
import { closedAddressReason, isAddressIn, parsePrivateBlock } from "./private-addresses.ts";

/** Rules from text, as they would come from the command line. */
function rulesOf(allow: readonly string[], deny: readonly string[] = []): HostRules {
  const rules = new HostRules();
  for (const text of allow) rules.allow(ruleOf(text));
  for (const text of deny) rules.deny(ruleOf(text));
  return rules;
}

function ruleOf(text: string) {
  const parsed = parseNetworkRule(text);
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

describe("rules with addresses", () => {
  test.each([
    ["Git.Corp.Example:443=10.1.2.3", { host: "git.corp.example", port: 443 }],
    ["db.corp.example:5432=10.0.0.0/8", { host: "db.corp.example", port: 5432 }],
    ["intranet=172.16.0.0/12", { host: "intranet" }],
    ["a.example=192.168.1.0/24", { host: "a.example" }],
    ["a.example=100.64.0.0/10", { host: "a.example" }],
    ["a.example=fd12:3456::/32", { host: "a.example" }],
    ["a.example=FD12::1", { host: "a.example" }],
    ["a.example=fd00:0:0:0:0:0:0:1", { host: "a.example" }],
  ])("accept %s", (text, rule) => {
    const parsed = parseNetworkRule(text);
    const addresses = { text: text.slice(text.indexOf("=") + 1) };
    expect(parsed.ok ? parsed.value : parsed.reason).toMatchObject({ ...rule, isWildcard: false, addresses });
  });

  test.each([
    ["*.corp.example=10.0.0.0/8", "name it in full"],
    ["*=10.0.0.0/8", "stands for every host"],
    ["10.1.2.3=10.1.2.3", "IP address is not accepted"],
    ["0x0a010203:443=10.1.2.3", "IP address is not accepted"],
    ["git.corp.example.:443=10.1.2.3", "not the name of a host"],
    ["bücher.example=10.1.2.3", "xn--"],
    ["localhost:3000=10.1.2.3", "localhost:PORT has no address"],
    ["git.corp.example:0=10.1.2.3", "port must be"],
    ["=10.1.2.3", "host is missing"],
    ["git.corp.example=", "not an address"],
    ["git.corp.example=10.1.2.3=10.1.2.4", "not an address"],
    ["git.corp.example=10.1.2.3:443", "not an address"],
    ["git.corp.example= 10.1.2.3", "not an address"],
    ["git.corp.example=other.example", "not an address"],
    ["git.corp.example=10.1.2", "not an address"],
    ["git.corp.example=010.1.2.3", "not an address"],
    ["git.corp.example=0x0a.1.2.3", "not an address"],
    ["git.corp.example=167838211", "not an address"],
    ["git.corp.example=10.1.2.256", "not an address"],
    ["git.corp.example=10.0.0.0/33", "not an address"],
    ["git.corp.example=10.0.0.0/08", "not an address"],
    ["git.corp.example=10.0.0.0/", "not an address"],
    ["git.corp.example=[fd12::1]", "not an address"],
    ["git.corp.example=fd12::1%eth0", "not an address"],
    ["git.corp.example=fd12:::1", "not an address"],
    ["git.corp.example=fd12::1::2", "not an address"],
    ["git.corp.example=fd12:1:2:3:4:5:6:7:8", "not an address"],
    ["git.corp.example=fd12::12345", "not an address"],
    ["git.corp.example=::ffff:10.1.2.3", "not an address"],
    ["git.corp.example=::ffff:a01:203", "as an IPv4 address"],
    ["git.corp.example=64:ff9b::a01:203", "not in a private network"],
    ["git.corp.example=10.1.2.3/8", "has bits after its first 8"],
    ["git.corp.example=10.0.0.0/7", "not in a private network"],
    ["git.corp.example=0.0.0.0/0", "not in a private network"],
    ["git.corp.example=::/0", "not in a private network"],
    ["git.corp.example=93.184.216.34", "name the host alone"],
    ["git.corp.example=2606:4700::1111", "name the host alone"],
    ["git.corp.example=127.0.0.1", "the rule localhost:3000"],
    ["git.corp.example=127.0.0.0/8", "the rule localhost:3000"],
    ["git.corp.example=0.0.0.0", "the rule localhost:3000"],
    ["git.corp.example=::1", "the rule localhost:3000"],
    ["git.corp.example=169.254.169.254", "metadata service"],
    ["git.corp.example=169.254.0.0/16", "metadata service"],
    ["git.corp.example=fe80::1", "metadata service"],
    ["git.corp.example=fd00:ec2::254", "metadata service"],
    ["git.corp.example=fd00:0ec2:0::0254", "metadata service"],
    ["git.corp.example=100.100.100.200", "metadata service"],
    ["git.corp.example=168.63.129.16", "metadata service"],
    ["git.corp.example=224.0.0.1", "multicast"],
    ["git.corp.example=ff02::1", "multicast"],
  ])("are rejected like %s", (text, reason) => {
    const parsed = parseNetworkRule(text);
    expect(parsed.ok ? parsed.value : parsed.reason).toContain(reason);
    expect(parsed.ok ? "" : parsed.reason).toMatch(/ is not a host rule: /);
  });

  test("are never read where only a host may be named", () => {
    const parsed = parseHostRule("git.corp.example:443=10.1.2.3");
    expect(parsed.ok ? parsed.value : parsed.reason).toContain("only the user can name addresses");
    expect(parseAuthority("git.corp.example=10.1.2.3:443")).toMatchObject({ ok: false });
  });

  test("name the addresses of exactly their host and ports", () => {
    const rules = rulesOf([
      "a.corp.example:443=10.1.2.3",
      "a.corp.example:443=10.2.0.0/16",
      "*.corp.example",
      "b.corp.example",
    ]);
    const of = (host: string, port: number) => rules.addressesOf({ host, port }).map(({ text }) => text);
    expect(of("a.corp.example", 443)).toEqual(["10.1.2.3", "10.2.0.0/16"]);
    expect([of("a.corp.example", 80), of("b.corp.example", 443), of("x.a.corp.example", 443)]).toEqual([
      [],
      [],
      [],
    ]);
    expect(judge(rules, "a.corp.example:443")).toBe("allow");
    const denied = rulesOf(["a.corp.example:443=10.1.2.3"], ["*.corp.example"]);
    expect(judge(denied, "a.corp.example:443")).toBe("deny");
  });

  test("overlap with rules about the same host", () => {
    expect(hostRulesOverlap("git.corp.example", "git.corp.example:443=10.1.2.3")).toBe(true);
    expect(hostRulesOverlap("*.corp.example", "git.corp.example=10.1.2.3")).toBe(true);
    expect(hostRulesOverlap("db.corp.example", "git.corp.example=10.1.2.3")).toBe(false);
    expect(withoutAddresses("git.corp.example:443=10.1.2.3")).toBe("git.corp.example:443");
  });
});

describe("addresses", () => {
  const isIn = (address: string, text: string) => {
    const block = parsePrivateBlock(text);
    return block.ok ? isAddressIn(address, block.value) : block.reason;
  };

  test.each([
    ["10.1.2.3", "10.1.2.3", true],
    ["10.1.2.4", "10.1.2.3", false],
    ["10.255.0.1", "10.0.0.0/8", true],
    ["11.0.0.1", "10.0.0.0/8", false],
    ["192.168.1.128", "192.168.1.0/25", false],
    ["192.168.1.127", "192.168.1.0/25", true],
    ["fd12:3456:0:1::9", "fd12:3456::/32", true],
    ["fd12:3457::9", "fd12:3456::/32", false],
    ["10.1.2.3", "fd12:3456::/32", false],
    ["fd12:3456::1%eth0", "fd12:3456::/32", false],
    ["100.64.1.1", "100.64.0.0/10", true],
    ["100.100.100.200", "100.64.0.0/10", false],
    ["fd00:ec2::254", "fc00::/7", false],
    ["fd20:ce::254", "fc00::/7", false],
    ["name.example", "10.0.0.0/8", false],
  ])("%s in %s: %s", (address, text, expected) => {
    expect(isIn(address, text)).toBe(expected);
  });

  test("that no rule opens have a reason, and the rule for a port of the user's machine", () => {
    expect(closedAddressReason("10.1.2.3", 443)).toBeUndefined();
    expect(closedAddressReason("127.0.0.1", 5432)).toContain("localhost:5432");
    expect(closedAddressReason("fe80::1%eth0", 443)).toBe("not an address");
    expect(closedAddressReason("192.0.2.1", 443)).toContain("reserved");
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
