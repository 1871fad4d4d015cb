import { expect, test } from "vitest";
import { proxyEnvironment } from "./proxy-environment.ts";

const PROGRAMS = { preload: "/run/flint/proxy.cjs", connect: "/run/flint/connect.cjs" };
const PROXY = "http://flint:secret@127.0.0.1:3128";

function environmentWith(inherited: Readonly<Record<string, string>>, programs = PROGRAMS) {
  return proxyEnvironment({ token: "secret", programs, node: "/usr/bin/node", inherited });
}

test("leads every program to the proxy, with the token of the command", () => {
  const found = environmentWith({});
  const names = ["HTTP_PROXY", "https_proxy", "ALL_PROXY", "npm_config_https_proxy", "PIP_PROXY"];
  expect(names.map((name) => found[name])).toEqual(names.map(() => PROXY));
  expect(found).toMatchObject({
    NO_PROXY: "localhost,127.0.0.1,::1",
    GIT_SSH_COMMAND: "ssh -o ProxyCommand='/usr/bin/node /run/flint/connect.cjs %h %p'",
    NODE_OPTIONS: "--require /run/flint/proxy.cjs",
  });
});

test("npm asks its registry for nothing that no one asked npm for", () => {
  expect(environmentWith({})).toMatchObject({ npm_config_update_notifier: "false" });
});

test("sets git after the settings that are there", () => {
  const found = environmentWith({ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "a.b", GIT_CONFIG_VALUE_0: "c" });
  expect(found).toMatchObject({
    ...{ GIT_CONFIG_COUNT: "3", GIT_CONFIG_KEY_1: "http.proxy", GIT_CONFIG_VALUE_1: PROXY },
    ...{ GIT_CONFIG_KEY_2: "http.proxyAuthMethod", GIT_CONFIG_VALUE_2: "basic" },
  });
  expect(found).not.toHaveProperty("GIT_CONFIG_KEY_0");
});

test("adds to the options of Node and to the ssh of the user", () => {
  const found = environmentWith({ NODE_OPTIONS: "--no-warnings", GIT_SSH_COMMAND: "ssh -i key" });
  expect(found.NODE_OPTIONS).toBe("--no-warnings --require /run/flint/proxy.cjs");
  expect(found.GIT_SSH_COMMAND).toMatch(/^ssh -i key -o ProxyCommand=/);
});

test("quotes paths as their readers expect them", () => {
  const programs = { preload: '/a b/"p".cjs', connect: "/a b/connect.cjs" };
  const found = environmentWith({}, programs);
  expect(found.NODE_OPTIONS).toBe('--require "/a b/\\"p\\".cjs"');
  expect(found.GIT_SSH_COMMAND).toContain("/a b/connect.cjs");
});
