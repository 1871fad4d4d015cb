import { describe, expect, test } from "vitest";
import { type AccessRules, authorizeRequest, type RequestHead } from "./authorize.ts";

const only = () => ["tasks:add"] as const;

const RULES: AccessRules = {
  host: "127.0.0.1",
  port: 4747,
  root: "flint",
  accessOf: (given) => (given === "secret" ? "all" : given === "limited" ? { only } : "none"),
  allowOrigins: [],
  allowHosts: [],
};

function request(headers: RequestHead["headers"] = {}, url = "/", upgrade = true): RequestHead {
  const proper = { host: "127.0.0.1:4747", authorization: "Bearer secret" };
  return { method: "GET", url, upgrade, headers: { ...proper, ...headers } };
}

describe("authorizeRequest", () => {
  test("sends a client with the token to the front end of its path", () => {
    const decisions = ["/", "/flint", "/harness", "/harness?x=1"].map((url) =>
      authorizeRequest(request({}, url), RULES),
    );
    expect(decisions).toEqual([{ to: "flint" }, { to: "flint" }, { to: "harness" }, { to: "harness" }]);
    expect(authorizeRequest(request(), { ...RULES, root: "harness" })).toEqual({ to: "harness" });
  });

  test.each([
    undefined,
    "",
    "secret",
    "Bearer",
    "Bearer ",
    "Bearer wrong",
    "Bearer secret2",
    "Bearer secre",
    "Bearer  secret",
    "Basic secret",
    "Bearer secret secret",
  ])("answers 401 to the authorization %j on every path except the health paths [P28]", (authorization) => {
    const headers = { authorization };
    for (const url of ["/", "/flint", "/nowhere", "/../etc/passwd", "/healthz"]) {
      expect(authorizeRequest(request(headers, url), RULES)).toEqual({ to: undefined, status: 401 });
    }
    expect(authorizeRequest(request(headers, "/flint", false), RULES)).toEqual({
      to: undefined,
      status: 401,
    });
    expect(authorizeRequest(request(headers, "/healthz", false), RULES)).toEqual({ to: "health" });
  });

  test.each([
    "http://evil.example",
    "null",
    "http://127.0.0.1:4747",
    "http://localhost:4747",
    "https://good.example.evil.org",
    "https://evil-good.example",
    "https://good.example:444",
    "",
  ])("rejects a web page from %j, with or without the token [P29]", (origin) => {
    const rules = { ...RULES, allowOrigins: ["https://good.example"] };
    for (const url of ["/", "/healthz", "/nowhere"]) {
      for (const upgrade of [true, false]) {
        expect(authorizeRequest(request({ origin }, url, upgrade), rules)).toEqual({
          to: undefined,
          status: 403,
        });
      }
    }
  });

  test("accepts a page from an allowed origin if it has the token", () => {
    const rules = { ...RULES, allowOrigins: ["https://good.example"] };
    const origin = "https://good.example";
    expect(authorizeRequest(request({ origin }), rules)).toEqual({ to: "flint" });
    expect(authorizeRequest(request({ origin, authorization: undefined }), rules)).toMatchObject({
      status: 401,
    });
  });

  test.each([
    undefined,
    "",
    "evil.example",
    "evil.example:4747",
    "127.0.0.1",
    "127.0.0.1:80",
    "localhost.evil.example:4747",
    "127.0.0.1.evil.example:4747",
    "10.0.0.1:4747",
    "127.0.0.1:4747@evil.example",
    "[::1",
  ])("rejects the host %j, which DNS rebinding could use [P29]", (host) => {
    for (const upgrade of [true, false]) {
      expect(authorizeRequest(request({ host }, "/healthz", upgrade), RULES)).toMatchObject({ status: 421 });
    }
  });

  test("accepts loopback hosts, IP addresses when listening beyond loopback, and allowed hosts", () => {
    const status = (host: string, rules: Partial<AccessRules> = {}) =>
      authorizeRequest(request({ host }), { ...RULES, ...rules });
    expect(["localhost:4747", "[::1]:4747", "LOCALHOST:4747"].map((host) => status(host))).toEqual(
      Array(3).fill({ to: "flint" }),
    );
    const wide = { host: "0.0.0.0", allowHosts: ["Flint.lan"] };
    expect(["10.0.0.1:4747", "[fe80::1]:4747", "flint.lan"].map((host) => status(host, wide))).toEqual(
      Array(3).fill({ to: "flint" }),
    );
    expect(status("other.lan:4747", wide)).toMatchObject({ status: 421 });
  });

  test("sends a client with a limited token to the Flint protocol alone, with its rights", () => {
    const limited = { authorization: "Bearer limited" };
    expect(authorizeRequest(request(limited, "/flint"), RULES)).toEqual({ to: "flint", only });
    for (const url of ["/codex", "/harness", "/acp"])
      expect(authorizeRequest(request(limited, url), RULES)).toEqual({ to: undefined, status: 403 });
  });

  test("answers 404 and 426 only to clients with the token", () => {
    expect(authorizeRequest(request({}, "/nowhere"), RULES)).toMatchObject({ status: 404 });
    expect(authorizeRequest(request({}, "/constructor"), RULES)).toMatchObject({ status: 404 });
    expect(authorizeRequest(request({}, "/flint", false), RULES)).toMatchObject({ status: 426 });
    expect(authorizeRequest({ ...request({}, "/healthz", false), method: "POST" }, RULES)).toMatchObject({
      status: 405,
    });
  });
});
