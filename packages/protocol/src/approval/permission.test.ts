import { expect, test } from "vitest";
import { formatEndpoint } from "./host-rules.ts";
import {
  describeHostRule,
  describePermission,
  hostRuleCovers,
  hostRuleProblem,
  NetworkSetting,
  networkRuleProblem,
  Permission,
  permissionCovers,
  permissionsOverlap,
} from "./permission.ts";

test("accepts hosts that are host rules, and explains what is wrong with others", () => {
  const parse = (...hosts: string[]) => Permission.safeParse({ network: { hosts } });
  expect(parse("example.org", "*.example.org:8443", "localhost:3000").success).toBe(true);
  expect(parse("*").error?.issues[0]?.message).toContain("stands for every host");
  expect(hostRuleProblem("127.0.0.1")).toContain("IP address");
});

test("names addresses in what the user allows, and never in what an action needs or a grant gives", () => {
  const rule = "git.corp.example:443=10.1.2.3";
  expect(NetworkSetting.safeParse({ hosts: [rule] }).success).toBe(true);
  expect(networkRuleProblem(rule)).toBeUndefined();
  const refused = Permission.safeParse({ network: { hosts: [rule] } });
  expect(refused.error?.issues[0]?.message).toContain("only the user can name addresses");
  expect(permissionCovers(hosts(rule), hosts("git.corp.example:443"))).toBe(false);
  expect(hostRuleCovers(rule, { host: "git.corp.example", port: 443 })).toBe(true);
  const problem = NetworkSetting.safeParse({ hosts: ["git.corp.example=127.0.0.1"] });
  expect(problem.error?.issues[0]?.message).toContain("localhost:3000");
});

test("describes a rule with the ports and addresses that it stands for", () => {
  expect(describeHostRule("git.corp.example:443=fd12::1")).toBe("git.corp.example (port 443, at fd12::1)");
  expect(describeHostRule("git.corp.example=10.0.0.0/8")).toBe(
    "git.corp.example (ports 80 and 443, at 10.0.0.0/8)",
  );
});

test("covers ports 80 and 443 unless it names one, and the exact host unless it begins with a star", () => {
  const covers = (rule: string, host: string, port: number) => hostRuleCovers(rule, { host, port });
  expect([80, 443, 22].map((port) => covers("example.org", "example.org", port))).toEqual([
    true,
    true,
    false,
  ]);
  expect([22, 443].map((port) => covers("example.org:22", "example.org", port))).toEqual([true, false]);
  expect(
    ["a.example.org", "a.b.example.org", "example.org", "aexample.org"].map((host) =>
      covers("*.example.org", host, 443),
    ),
  ).toEqual([true, true, false, false]);
  expect(covers("example.org", "a.example.org", 443)).toBe(false);
  expect(covers(formatEndpoint({ host: "example.org", port: 8080 }), "example.org", 8080)).toBe(true);
});

test("is described by what it lets a command do", () => {
  expect(describePermission({ network: { hosts: ["registry.example:443"] }, write: ["/cache"] })).toBe(
    "connect to registry.example (port 443) and write /cache",
  );
  expect(describePermission({ network: "all" })).toBe("connect to any host");
  expect(describePermission({ git: true })).toBe("add its commits to your repository");
  expect(describePermission({ unconfined: true })).toContain("outside of the sandbox");
});

const hosts = (...rules: string[]): Permission => ({ network: { hosts: rules } });

test.each<[Permission, Permission, boolean]>([
  [{}, {}, true],
  [{}, hosts("a.example"), false],
  [hosts("a.example"), hosts("a.example"), true],
  [hosts("a.example"), hosts("a.example:443"), true],
  [hosts("a.example:443"), hosts("a.example"), false],
  [hosts("a.example"), hosts("a.example:22"), false],
  [hosts("*.example.org"), hosts("a.example.org:443"), true],
  [hosts("*.example.org"), hosts("*.a.example.org"), true],
  [hosts("*.a.example.org"), hosts("*.example.org"), false],
  [hosts("a.example"), hosts("a.example", "b.example"), false],
  [hosts("a.example"), { network: "all" }, false],
  [{ network: "all" }, hosts("a.example:22"), true],
  [{ write: ["/cache"] }, { write: ["/cache/pip"] }, true],
  [{ write: ["/cache"] }, { write: ["/cache2"] }, false],
  [{ write: ["/cache/pip"] }, { write: ["/cache"] }, false],
  [{ git: true }, { git: true }, true],
  [{ write: ["/"] }, { git: true }, false],
  [{ unconfined: true }, { unconfined: true }, true],
  [{ unconfined: true }, {}, false],
  [{ unconfined: true }, hosts("a.example"), false],
  [{ network: "all", write: ["/"], git: true }, { unconfined: true }, false],
])("%j includes %j: %s", (given, needed, expected) => {
  expect(permissionCovers(given, needed)).toBe(expected);
});

test("has something in common with another one that names the same host, path or right", () => {
  expect(permissionsOverlap(hosts("a.example"), hosts("a.example:22"))).toBe(true);
  expect(permissionsOverlap(hosts("*.example.org"), hosts("a.example.org"))).toBe(true);
  expect(permissionsOverlap(hosts("a.example"), { network: "all" })).toBe(true);
  expect(permissionsOverlap({ write: ["/a"] }, { write: ["/a/b"] })).toBe(true);
  expect(permissionsOverlap(hosts("a.example"), { write: ["/a"], git: true })).toBe(false);
});
