import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join, normalize } from "node:path";
import { agentProgram, needs } from "@flint/testkit";
import { afterAll, describe, expect, onTestFinished } from "vitest";
import type { NetworkAnswer } from "./host-gate.ts";
import { CA_FILE, startInternet } from "./testing/internet.ts";
import { NetworkFixture } from "./testing/network-commands.ts";
import type { ThreadNetworkOptions } from "./thread-network.ts";

/** Variables that make each program trust the servers, and leave the user's settings out. */
const VARIABLES = {
  ...{ CURL_CA_BUNDLE: CA_FILE, NODE_EXTRA_CA_CERTS: CA_FILE, GIT_SSL_CAINFO: CA_FILE, PIP_CERT: CA_FILE },
  ...{ npm_config_cafile: CA_FILE, npm_config_registry: "https://registry.example/" },
  ...{ npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false" },
  ...{ npm_config_fetch_retries: "0", PIP_INDEX_URL: "https://pypi.example/simple/", PIP_RETRIES: "0" },
  ...{ PIP_DISABLE_PIP_VERSION_CHECK: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" },
};

/** Files that hosts serve, made once: `HOST/path`. */
const SITE = mkdtempSync("/var/tmp/flint-network-site-");
afterAll(() => rmSync(SITE, { recursive: true, force: true }));

const serve: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://x/");
  const path = normalize(
    join(SITE, request.headers.host ?? "", pathname, pathname.endsWith("/") ? "index" : ""),
  );
  // Expected: a file that is not there.
  try {
    if (path.endsWith("/index")) response.setHeader("content-type", "text/html");
    response.end(path.startsWith(SITE) ? readFileSync(path) : undefined);
  } catch {
    response.writeHead(404).end();
  }
};

async function thread(
  options: Partial<ThreadNetworkOptions>,
  variables: Readonly<Record<string, string>> = {},
) {
  const internet = await startInternet(serve);
  onTestFinished(() => internet.stop());
  const fixture = await NetworkFixture.create(
    { dial: internet.dial, ...options },
    { ...VARIABLES, ...variables },
  );
  onTestFinished(() => fixture.remove());
  return { fixture, internet };
}

/** A user who allows everything after a while. */
function consentingUser() {
  const asked: string[] = [];
  const ask = async ({ host, port }: { host: string; port: number }): Promise<NetworkAnswer> => {
    asked.push(`${host}:${port}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { decision: "allow", scope: "once" };
  };
  return { asked, ask };
}

function site(path: string, content: string | Buffer): void {
  mkdirSync(join(SITE, path, ".."), { recursive: true });
  writeFileSync(join(SITE, path), content);
}

describe("npm", () => {
  const test = needs("bwrap", "npm");
  const install = "npm install --no-save hello 2>&1 && cat node_modules/hello/index.js";

  function publish(): void {
    const manifest = { name: "hello", version: "1.0.0" };
    site("package/package.json", JSON.stringify(manifest));
    site("package/index.js", "hello from the registry\n");
    mkdirSync(join(SITE, "registry.example"), { recursive: true });
    execFileSync("tar", ["czf", join(SITE, "registry.example/hello-1.0.0.tgz"), "-C", SITE, "package"]);
    const dist = { tarball: "https://registry.example/hello-1.0.0.tgz" };
    const versions = { "1.0.0": { ...manifest, dist } };
    const metadata = { name: "hello", "dist-tags": { latest: "1.0.0" }, versions };
    site("registry.example/hello", JSON.stringify(metadata));
  }

  test("installs from a registry that the user allows while it waits, asked once", async () => {
    publish();
    const { ask, asked } = consentingUser();
    const { fixture } = await thread({ ask });
    expect(await fixture.run(install)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/hello from the registry/),
    });
    expect(asked).toEqual(["registry.example:443"]);
  });

  test("fails with 403 where the registry is not allowed", async () => {
    const { fixture } = await thread({});
    const { exitCode, stdout } = await fixture.run(install);
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain("403");
  });
});

describe("git", () => {
  const test = needs("bwrap", "git");
  const testWithSsh = needs("bwrap", "git", "ssh");

  function repository(): void {
    const folder = join(SITE, "git.example/repo.git");
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" };
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], { cwd: SITE, env });
    git("init", "--quiet", "work");
    git("-C", "work", "commit", "--quiet", "--allow-empty", "-m", "first commit");
    git("clone", "--quiet", "--bare", "work", folder);
    git("-C", folder, "update-server-info");
  }

  test("clones over https", async () => {
    repository();
    const { fixture } = await thread({ allow: ["git.example"] });
    const cloned = await fixture.run(
      "git clone --quiet https://git.example/repo.git && git -C repo log --format=%s",
    );
    expect(cloned).toMatchObject({ exitCode: 0, stdout: "first commit\n" });
  });

  test("reports 403 where the host is not allowed, and is attributed by its token", async () => {
    const { fixture } = await thread({});
    const startedAt = Date.now();
    const cloned = await fixture.run("git clone https://git.example/repo.git", { id: "clone" });
    expect(cloned).toMatchObject({ exitCode: 128, stderr: expect.stringMatching(/403/) });
    const window = { command: "clone", startedAt, endedAt: Date.now() };
    expect(fixture.network.refusedTo(window)).toMatchObject([{ host: "git.example", isCertain: true }]);
  });

  testWithSsh("reaches an ssh server whose port is named", async () => {
    const { fixture, internet } = await thread({ allow: ["git.example:22"] });
    await fixture.run("git ls-remote ssh://git@git.example/repo.git");
    expect(internet.greetings).toEqual([expect.stringMatching(/^SSH-2\.0-/)]);
  });

  testWithSsh("prints why ssh is refused", async () => {
    const { fixture, internet } = await thread({ allow: ["git.example"] });
    const { exitCode, stderr } = await fixture.run("git ls-remote ssh://git@git.example/repo.git");
    expect([exitCode, internet.greetings]).toEqual([128, []]);
    expect(stderr).toContain("Flint's sandbox refused the connection to git.example:22");
  });
});

describe("pip", () => {
  const test = needs("bwrap", "pip");
  const download = "pip download --no-deps hello 2>&1; ls";

  test("downloads from an allowed index", async () => {
    const name = "hello-1.0-py3-none-any.whl";
    site("pypi.example/simple/hello/index", `<a href="/${name}">${name}</a>`);
    site(`pypi.example/${name}`, readFileSync(new URL(`./fixtures/${name}`, import.meta.url)));
    const { fixture } = await thread({ allow: ["pypi.example"] });
    expect((await fixture.run(download)).stdout).toMatch(new RegExp(`^${name}$`, "m"));
  });

  test("is logged where the index is not allowed, whatever pip prints", async () => {
    const { fixture } = await thread({});
    const startedAt = Date.now();
    await fixture.run(download, { id: "pip" });
    const window = { command: "pip", startedAt, endedAt: Date.now() };
    expect(fixture.network.refusedTo(window)).toMatchObject([{ host: "pypi.example", port: 443 }]);
  });
});

const FETCH = `
const https = require("https");
const http = require("http");
const get = (module, url) => new Promise((resolve) =>
  module.get(url, (r) => r.on("data", (d) => resolve(String(d)))).on("error", (e) => resolve(e.message)));
const fetched = (url) => fetch(url).then((r) => r.text(), (e) => (e.cause ?? e).message);
(async () => console.log(JSON.stringify([
  await fetched("https://registry.example/file"), await fetched("http://registry.example/file"),
  await get(https, "https://registry.example/file"), await get(http, "http://registry.example/file"),
  await fetched("https://other.example/"), await get(https, "https://other.example/"),
])))();
`;

describe("Node", () => {
  async function fetchWith(node: string): Promise<string[]> {
    site("registry.example/file", "content");
    const { fixture } = await thread({ allow: ["registry.example"] });
    writeFileSync(join(fixture.home, "fetch.cjs"), FETCH);
    const { stdout, stderr } = await fixture.run(`${node} fetch.cjs`);
    expect(stderr).toBe("");
    // It printed an array of strings, or the test fails.
    return JSON.parse(stdout) as string[];
  }

  needs("bwrap")(
    "of these tests reaches allowed hosts by fetch, http and https, and prints what is refused",
    async () => {
      const [a, b, c, d, ...refused] = await fetchWith(process.execPath);
      expect([a, b, c, d]).toEqual(Array(4).fill("content"));
      for (const message of refused)
        expect(message).toMatch(/403|refused the connection to other\.example:443/);
    },
  );

  needs("bwrap", "node24")("24 does the same", async () => {
    const [a, b, c, d, ...refused] = await fetchWith(agentProgram("node24") ?? "node24");
    expect([a, b, c, d]).toEqual(Array(4).fill("content"));
    expect(refused.join()).not.toContain("content");
  });
});
