import { expect, test } from "vitest";
import { formatEndpoint } from "./host-rules.ts";
import { describePermission, hostRuleCovers, hostRuleProblem, Permission } from "./permission.ts";

test("accepts hosts that are host rules, and explains what is wrong with others", () => {
  const parse = (...hosts: string[]) => Permission.safeParse({ network: { hosts } });
  expect(parse("example.org", "*.example.org:8443", "localhost:3000").success).toBe(true);
  expect(parse("*").error?.issues[0]?.message).toContain("stands for every host");
  expect(hostRuleProblem("127.0.0.1")).toContain("IP address");
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
