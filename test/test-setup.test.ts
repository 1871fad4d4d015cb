import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { ROOT } from "./source/files.ts";

const WORKS = "#!/bin/sh\nexit 0\n";
const BROKEN = "#!/bin/sh\necho no namespaces here\nexit 1\n";
const MACHINE = {
  bwrap: WORKS,
  git: WORKS,
  curl: WORKS,
  ip: WORKS,
  ssh: WORKS,
  sshd: WORKS,
  pip: WORKS,
  chromium: WORKS,
};
/** Nothing but Debian's programs, and of them only the one that a test is about. */
const ONLY_BWRAP = { FLINT_TEST_AGENTS: "0", FLINT_TEST_WITHOUT: "git,curl,ip,ssh,sshd,pip,redis,chromium" };

/** A copy of the set-up that sees only the given programs, and a cache of its own. */
async function machine(programs: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder();
  const bin = folder.join("bin");
  mkdirSync(bin);
  const install = (name: string, text: string) => writeFileSync(join(bin, name), text, { mode: 0o755 });
  for (const [name, text] of Object.entries(programs)) install(name, text);
  cpSync(join(ROOT, "scripts"), folder.join("scripts"), { recursive: true });
  const cache = folder.join("cache");
  const setUp = (environment: Readonly<Record<string, string>> = {}) => {
    const result = spawnSync(process.execPath, [folder.join("scripts/test-setup.mjs")], {
      encoding: "utf8",
      env: { PATH: bin, FLINT_TEST_CACHE: cache, ...environment },
    });
    const printed = `${result.stdout}${result.stderr}`.replaceAll(`${bin}/`, "").replaceAll(cache, "CACHE");
    const lines = printed
      .replace(/\d+\.\d s/g, "N s")
      .trim()
      .split("\n");
    return { code: result.status, lines };
  };
  const found = () => JSON.parse(readFileSync(folder.join("node_modules/.cache/flint/found.json"), "utf8"));
  return { setUp, install, found, cache, folder };
}

const WITHOUT_AGENTS = { FLINT_TEST_AGENTS: "0" };
const LAST = "set up in N s (not part of the test time)";

test("reports a program that works and records it for the tests", async () => {
  const { setUp, found } = await machine(MACHINE);
  expect(setUp({ ...WITHOUT_AGENTS, FLINT_TEST_WITHOUT: "redis" })).toEqual({
    code: 0,
    lines: [...Object.keys(MACHINE).map((name) => `ok ${name} ${name} (on PATH)`), LAST],
  });
  expect(Object.keys(found())).toEqual(Object.keys(MACHINE));
  expect(found().bwrap).toMatchObject({ onPath: true });
});

test("looks for the real agents by default", async () => {
  const { lines } = (await machine(MACHINE)).setUp();
  const agents = ["node24", "codex", "claude", "codex-acp", "claude-agent-acp", "acpx", "codex-sdk", "tmux"];
  expect(lines.map((line) => line.split(" ")[1])).toEqual(expect.arrayContaining(agents));
});

test("skips what cannot be fetched, with the reason and the way to get it", async () => {
  const { setUp, found } = await machine({});
  expect(setUp(ONLY_BWRAP)).toEqual({
    code: 0,
    lines: [
      "SKIP bwrap its tests will be skipped (only Debian and its relatives are known here): apt-get install bubblewrap, and allow user namespaces",
      LAST,
    ],
  });
  expect(found()).toEqual({});
});

test("treats a program that does not work as missing", async () => {
  const { setUp, found } = await machine({ bwrap: BROKEN });
  expect(setUp(ONLY_BWRAP).lines[0]).toContain("bwrap is there but does not work: no namespaces here");
  expect(found()).toEqual({});
});

test("tries a program once more when the others are there, since it may have been too slow", async () => {
  const slowAtFirst = '#!/bin/sh\n[ -e "$0.tried" ] && exit 0\n: > "$0.tried"\necho busy\nexit 1\n';
  const { setUp } = await machine({ bwrap: slowAtFirst });
  expect(setUp(ONLY_BWRAP)).toEqual({ code: 0, lines: ["ok bwrap bwrap (on PATH)", LAST] });
});

test("fails when a required part cannot be provided", async () => {
  for (const required of ["bwrap", "all"]) {
    const { setUp } = await machine({ bwrap: BROKEN });
    const { code, lines } = setUp({ ...ONLY_BWRAP, FLINT_TEST_REQUIRE: required });
    expect([code, lines.at(-1)]).toEqual([
      1,
      "test setup: FLINT_TEST_REQUIRE names bwrap, which could not be provided",
    ]);
  }
});

test("rejects an unknown part, so that a typo cannot hide a gap", async () => {
  for (const variable of ["FLINT_TEST_REQUIRE", "FLINT_TEST_PARTS", "FLINT_TEST_WITHOUT"]) {
    expect((await machine({ bwrap: WORKS })).setUp({ [variable]: "bwarp" })).toEqual({
      code: 1,
      lines: [
        "test setup: unknown part bwarp; known are bwrap, git, curl, ip, ssh, sshd, pip, redis, chromium, node24, codex, claude, codex-acp, claude-agent-acp, opencode, gemini, acpx, codex-sdk, tmux",
      ],
    });
  }
});

test("never prints the address of a Redis", async () => {
  const { setUp } = await machine(MACHINE);
  const environment = { REDIS_URL: "redis://user:secret@host" };
  const { lines } = setUp({ ...WITHOUT_AGENTS, ...environment });
  expect(lines).toContain("ok redis REDIS_URL (from the environment)");
  expect(lines.join()).not.toContain("secret");
});

describe("a missing part", () => {
  const AGENT =
    "claude,codex-acp,claude-agent-acp,opencode,gemini,acpx,codex-sdk,node24,tmux,bwrap,git,curl,ip,ssh,sshd,pip,redis,chromium";
  const ONLY_CODEX = { FLINT_TEST_WITHOUT: AGENT };
  /** An npm that writes down what it is asked for, and installs a program with this text. */
  const npm = (program: string, asked: string, end = "exit 0") => `#!/bin/sh
for each; do [ "$before" = --prefix ] && folder=$each; before=$each; done
echo "$before" >> ${asked}
/bin/mkdir -p "$folder/node_modules/.bin"
echo '#!/bin/sh\n${program}' > "$folder/node_modules/.bin/codex"
/bin/chmod 755 "$folder/node_modules/.bin/codex"
${end}
`;

  test("is fetched once and reused by every clone", async () => {
    const { setUp, install, folder } = await machine({});
    const asked = folder.join("asked");
    install("npm", npm("exit 0", asked));
    const copy = "CACHE/npm/codex-0.166.0-linux-x64/node_modules/.bin/codex";
    const ok = `ok codex ${copy.replace("linux-x64", `linux-${process.arch}`)} (private copy)`;
    expect(setUp(ONLY_CODEX).lines).toEqual([".. codex fetched in N s", ok, LAST]);
    expect(setUp(ONLY_CODEX).lines).toEqual([ok, LAST]);
    expect(readFileSync(asked, "utf8")).toBe("@openai/codex@0.166.0\n");
  });

  test("is fetched again when its copy is broken", async () => {
    const { setUp, install, folder } = await machine({});
    install("npm", npm("exit 1", folder.join("asked")));
    expect(setUp(ONLY_CODEX).lines).toContainEqual(expect.stringContaining("SKIP codex"));
    install("npm", npm("exit 0", folder.join("asked")));
    expect(setUp(ONLY_CODEX).lines).toContainEqual(expect.stringContaining("ok codex"));
  });

  test("leaves no partial copy behind when fetching fails", async () => {
    const { setUp, install, folder, cache } = await machine({});
    install("npm", npm("exit 0", folder.join("asked"), "echo gone away; exit 1"));
    expect(setUp(ONLY_CODEX).lines[0]).toContain("npm install @openai/codex@0.166.0 failed: gone away");
    expect(readdirSync(join(cache, "npm"))).toEqual([]);
  });

  test("is taken from PATH only in the version that the tests are written for", async () => {
    const other = await machine({ codex: "#!/bin/sh\necho codex-cli 9.9.9\n" });
    expect(other.setUp(ONLY_CODEX).lines[0]).toContain("SKIP codex");
    const same = await machine({ codex: "#!/bin/sh\necho codex-cli 0.166.0\n" });
    expect(same.setUp(ONLY_CODEX).lines[0]).toBe("ok codex codex (on PATH)");
  });

  test("is unpacked from Debian packages with its dependencies, without installing anything", async () => {
    const { setUp, install, folder, cache } = await machine({});
    const asked = folder.join("asked");
    install(
      "apt-get",
      `#!/bin/sh
for each; do
  case $each in Dir::State=*) state=\${each#*=};; update|install|download) command=$each;; esac
done
echo "$command \${*##*$command}" >> ${asked}
case $command in
  update) : > "$state/lists/mirror_Packages" ;;
  install) echo "'http://mirror/libcap2_1_all.deb' libcap2_1_all.deb 1 MD5Sum:0" ;;
  download) : > bubblewrap_1_all.deb; : > libcap2_1_all.deb ;;
esac
`,
    );
    install(
      "dpkg",
      `#!/bin/sh
/bin/mkdir -p files/usr/bin files/usr/lib/x-linux-gnu
case $2 in
  bubblewrap*) printf '#!/bin/sh\\ncase $LD_LIBRARY_PATH in */x-linux-gnu*) exit 0;; esac; exit 1\\n' > files/usr/bin/bwrap; /bin/chmod 755 files/usr/bin/bwrap ;;
  libcap2*) : > files/usr/lib/x-linux-gnu/libcap.so.2 ;;
esac
`,
    );
    expect(setUp(ONLY_BWRAP).lines).toEqual([
      ".. bwrap fetched in N s",
      expect.stringMatching(/^ok bwrap CACHE\/debian\/\S+\/bwrap\/bin\/bwrap \(private copy\)$/),
      LAST,
    ]);
    const commands = readFileSync(asked, "utf8").trim().split("\n");
    expect(commands.map((line) => line.split(" ")[0])).toEqual(["update", "install", "download"]);
    expect(commands[1]).toContain("--print-uris");
    expect(readdirSync(cache)).toEqual(["debian"]);
  });
});

test("caches in the user's cache folder, or in the clone if that is not writable", async () => {
  const { path } = await temporaryFolder();
  const module = pathToFileURL(join(ROOT, "scripts/test-setup/cache.mjs"));
  const code = `console.log((await import(${JSON.stringify(module)})).CACHE)`;
  const cacheIn = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8", env }).stdout.trim();
  const home = { HOME: path, XDG_CACHE_HOME: `${path}/xdg` };
  expect(cacheIn({ ...home, FLINT_TEST_CACHE: "/chosen" })).toBe("/chosen");
  expect(cacheIn(home)).toBe(`${path}/xdg/flint-tests`);
  expect(cacheIn({ HOME: path })).toBe(`${path}/.cache/flint-tests`);
  expect(cacheIn({ HOME: "/proc/nowhere" })).toBe(join(ROOT, "node_modules/.cache/flint/"));
});
