import { describe, expect, test } from "vitest";
import { type GateRequest, type GateRules, judgeRequest } from "./gate.ts";

const RULES: GateRules = {
  host: "127.0.0.1",
  port: 4747,
  root: "flint",
  isToken: (given) => given === "secret",
  allowOrigins: [],
  allowHosts: [],
};

function request(headers: GateRequest["headers"] = {}, url = "/", upgrade = true): GateRequest {
  const proper = { host: "127.0.0.1:4747", authorization: "Bearer secret" };
  return { method: "GET", url, upgrade, headers: { ...proper, ...headers } };
}

describe("the gate", () => {
  test("lets a client with the token through to the door of its path", () => {
    const doors = ["/", "/flint", "/harness", "/harness?x=1"].map((url) =>
      judgeRequest(request({}, url), RULES),
    );
    expect(doors).toEqual([{ to: "flint" }, { to: "flint" }, { to: "harness" }, { to: "harness" }]);
    expect(judgeRequest(request(), { ...RULES, root: "harness" })).toEqual({ to: "harness" });
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
  ])("answers 401 to the authorization %j on every path but those of health [P28]", (authorization) => {
    const headers = { authorization };
    for (const url of ["/", "/flint", "/nowhere", "/../etc/passwd", "/healthz"]) {
      expect(judgeRequest(request(headers, url), RULES)).toEqual({ to: undefined, status: 401 });
    }
    expect(judgeRequest(request(headers, "/flint", false), RULES)).toEqual({ to: undefined, status: 401 });
    expect(judgeRequest(request(headers, "/healthz", false), RULES)).toEqual({ to: "health" });
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
  ])("refuses a web page from %j, whatever it knows [P29]", (origin) => {
    const rules = { ...RULES, allowOrigins: ["https://good.example"] };
    for (const url of ["/", "/healthz", "/nowhere"]) {
      for (const upgrade of [true, false]) {
        expect(judgeRequest(request({ origin }, url, upgrade), rules)).toEqual({
          to: undefined,
          status: 403,
        });
      }
    }
  });

  test("lets in a page whose exact origin was allowed, if it has the token", () => {
    const rules = { ...RULES, allowOrigins: ["https://good.example"] };
    const origin = "https://good.example";
    expect(judgeRequest(request({ origin }), rules)).toEqual({ to: "flint" });
    expect(judgeRequest(request({ origin, authorization: undefined }), rules)).toMatchObject({ status: 401 });
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
  ])("refuses a request for the host %j, under which a page may have found this machine [P29]", (host) => {
    for (const upgrade of [true, false]) {
      expect(judgeRequest(request({ host }, "/healthz", upgrade), RULES)).toMatchObject({ status: 421 });
    }
  });

  test("is called by any name of this machine, by numbers if it listens beyond it, and by what was allowed", () => {
    const status = (host: string, rules: Partial<GateRules> = {}) =>
      judgeRequest(request({ host }), { ...RULES, ...rules });
    expect(["localhost:4747", "[::1]:4747", "LOCALHOST:4747"].map((host) => status(host))).toEqual(
      Array(3).fill({ to: "flint" }),
    );
    const wide = { host: "0.0.0.0", allowHosts: ["Flint.lan"] };
    expect(["10.0.0.1:4747", "[fe80::1]:4747", "flint.lan"].map((host) => status(host, wide))).toEqual(
      Array(3).fill({ to: "flint" }),
    );
    expect(status("other.lan:4747", wide)).toMatchObject({ status: 421 });
  });

  test("tells who has the token which paths there are, and that they are for WebSockets", () => {
    expect(judgeRequest(request({}, "/nowhere"), RULES)).toMatchObject({ status: 404 });
    expect(judgeRequest(request({}, "/constructor"), RULES)).toMatchObject({ status: 404 });
    expect(judgeRequest(request({}, "/flint", false), RULES)).toMatchObject({ status: 426 });
    expect(judgeRequest({ ...request({}, "/healthz", false), method: "POST" }, RULES)).toMatchObject({
      status: 405,
    });
  });
});
