import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { needs, temporaryFolder } from "@flint/testkit";
import { expect } from "vitest";
import { commandFixture, type Ran } from "./flint.ts";
import { FLINT } from "./server.ts";

const test = needs("bwrap", "curl", "ip");

/** A machine in namespaces of its own, with a private address at which a server answers as `git.corp.example`. */
const MACHINE = `
set -e
ip link set lo up
ip addr add 10.77.0.1/24 dev lo
mount --bind hosts /etc/hosts
"$0" -e 'require("http").createServer((q, r) => r.end("private\\n")).listen(80, "10.77.0.1", () => console.log("up"))' > up &
server=$!
trap 'kill $server' EXIT
until grep -q up up; do kill -0 $server; sleep 0.05; done
"$0" "$@"
`;

/** Runs a command of the offline model there, with these options and files. */
async function runThere(
  flags: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const folder = await temporaryFolder();
  const { cwd, home, environment } = await commandFixture(Promise.resolve(folder));
  const steps = [
    [{ call: "shell", input: { command: "curl -sS http://git.corp.example/" } }],
    [{ text: "Done." }],
  ];
  await writeFile(folder.join("script.json"), JSON.stringify({ steps }));
  await writeFile(folder.join("hosts"), "127.0.0.1 localhost\n10.77.0.1 git.corp.example\n");
  await mkdir(`${home}/.config/flint`, { recursive: true });
  await mkdir(`${cwd}/.flint`);
  for (const [name, text] of Object.entries(files))
    await writeFile(name.replace("~", home).replace("./", `${cwd}/`), text);
  const args = ["exec", "--offline", "--approval", "never", ...flags, "--cwd", cwd, "go"];
  const env = { ...environment, FLINT_OFFLINE_SCRIPT: folder.join("script.json") };
  const unshare = ["--user", "--map-root-user", "--net", "--mount", "--fork", "--kill-child"];
  return new Promise((resolve) => {
    const child = execFile(
      "unshare",
      [...unshare, "sh", "-c", MACHINE, process.execPath, FLINT, ...args],
      { cwd: folder.path, env },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** Returns the output of a run's command, and the outcome of its connections. */
async function curlThere(...run: Parameters<typeof runThere>) {
  const { stdout, stderr } = await runThere([...run[0], "--json"], run[1]);
  const items = stdout.split("\n").flatMap((line): { type?: string }[] => {
    const { type, item } = JSON.parse(line || "{}");
    return type === "item/completed" ? [item] : [];
  });
  const item = items.find(({ type }) => type === "commandExecution") ?? {};
  const { aggregatedOutput = stderr, connections } = Object(item);
  return { output: String(aggregatedOutput), connections };
}

const RULE = "git.corp.example=10.77.0.0/16";
const REFUSED =
  "git.corp.example resolves to 10.77.0.1, a private address; only the user can allow it (--network git.corp.example:80=10.77.0.1)";

test("a command connects to a private host that --network names with its addresses", async () => {
  expect((await curlThere(["--network", RULE])).output).toBe("private\n");
});

test("a name alone opens no private address, and the refusal names the rule that does", async () => {
  const { output, connections } = await curlThere(["--network", "git.corp.example"]);
  expect(output).toContain(`Flint's sandbox refused the connection to git.corp.example:80: ${REFUSED}.`);
  expect(connections).toEqual([{ host: "git.corp.example", port: 80, allowed: false, reason: REFUSED }]);
});

test("a private host is not reached at other addresses than those that were named", async () => {
  const { output } = await curlThere(["--network", "git.corp.example=10.78.0.0/16"]);
  expect(output).toContain("10.77.0.1, which is not among the addresses named for it (10.78.0.0/16)");
});

test("a private host is named in your configuration or policy file, and not in a repository's", async () => {
  const config = `network = ["${RULE}"]\n`;
  expect((await curlThere([], { "~/.config/flint/config.toml": config })).output).toBe("private\n");
  const rule = `[[rule]]\ndecision = "allow"\nprefix = ["curl"]\n${config}`;
  expect((await curlThere(["--policy", "project/ci.toml"], { "./ci.toml": rule })).output).toBe("private\n");
  const own = await curlThere(["--network", "git.corp.example"], { "./.flint/config.toml": config });
  expect(own.output).toContain(REFUSED);
});

test("a rule that opens the machine itself or a metadata service is refused before anything runs", async () => {
  const { flint } = await commandFixture();
  const refused = async (rule: string) =>
    (await flint(["exec", "--offline", "--network", rule, "go"])).stderr;
  expect(await refused("db.example=127.0.0.1")).toContain("the rule localhost:3000 opens that port of it");
  expect(await refused("db.example=169.254.169.254")).toContain(
    "metadata service of a cloud, which no rule opens",
  );
});
