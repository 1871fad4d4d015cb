import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { SandboxPolicy } from "@flint/protocol";
import { MECHANISM_PARTS, needs } from "@flint/testkit";
import { build } from "rolldown";
import { describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import type { MechanismName } from "./mechanisms/launch.ts";

const NO_ONE = 65_534;
const SOURCE = new URL("./command-sandbox.ts", import.meta.url);

/** A program for another user: launches the commands in its arguments and prints their outcomes. */
const LAUNCHER = `
  import { CommandSandbox } from ${JSON.stringify(fileURLToPath(SOURCE))};
  const { mechanism, jobs } = JSON.parse(process.argv[2]);
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [mechanism] });
  const outcomes = jobs.map(async (job) => {
    let printed = "";
    const { exitCode } = await sandbox.launch({ ...job, onOutput: (text) => { printed += text; } });
    return { exitCode, printed };
  });
  console.log(JSON.stringify(await Promise.all(outcomes)));
`;

interface Job {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly workspace: string;
  readonly policy: SandboxPolicy;
}

interface Outcome {
  readonly exitCode: number;
  readonly printed: string;
}

/** Launches commands at the same time. */
type Launch = (mechanism: MechanismName, ...jobs: Job[]) => Promise<Outcome[]>;

const launchHere: Launch = (mechanism, ...jobs) => {
  const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [mechanism] });
  const launch = async (job: Job) => {
    let printed = "";
    const output = (text: string) => {
      printed += text;
    };
    const { exitCode } = await sandbox.launch({ ...job, onOutput: output });
    return { exitCode, printed };
  };
  return Promise.all(jobs.map(launch));
};

const launchAsNobody: Launch = async (mechanism, ...jobs) => {
  const shared = await publicFolder();
  const env = { ...process.env, HOME: "/nonexistent", PATH: `${shared}/fetched/bin:${process.env.PATH}` };
  const args = [join(shared, "launcher.mjs"), JSON.stringify({ mechanism, jobs })];
  const { stdout } = await promisify(execFile)(process.execPath, args, { uid: NO_ONE, gid: NO_ONE, env });
  return JSON.parse(stdout) as Outcome[];
};

/** A folder with copies of the sources and programs, which another user may not read in their own folders. */
async function publicFolder(): Promise<string> {
  const shared = folder(NO_ONE);
  writeFileSync(join(shared, "launcher.js"), LAUNCHER);
  await build({
    input: join(shared, "launcher.js"),
    platform: "node",
    resolve: { conditionNames: ["@flint/source", "import", "node", "default"] },
    output: { file: join(shared, "launcher.mjs"), format: "esm", codeSplitting: false },
    logLevel: "silent",
  });
  const folders = (process.env.PATH ?? "").split(":");
  const bwrap = folders.find((each) => existsSync(join(each, "bwrap")));
  const fetched = join(bwrap ?? shared, "..");
  if (existsSync(join(fetched, "files/usr/bin/bwrap")))
    cpSync(fetched, join(shared, "fetched"), { recursive: true, verbatimSymlinks: true });
  return shared;
}

const USERS = {
  "the current user": { launch: launchHere, uid: process.getuid?.() ?? 0, isHere: true },
  noOne: { launch: launchAsNobody, uid: NO_ONE, isHere: process.getuid?.() === 0 },
} as const;

const CASES = Object.keys(MECHANISM_PARTS).flatMap((mechanism) =>
  Object.keys(USERS).map((user) => [mechanism, user] as [MechanismName, keyof typeof USERS]),
);

/** A folder of the user, where no sandbox masks it. */
function folder(uid: number): string {
  const path = mkdtempSync("/var/tmp/flint-escape-test-");
  chownSync(path, uid, uid);
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Listeners of every kind outside of the sandbox, and a count of their connections. */
async function listeners(outside: string) {
  let connections = 0;
  const count = () => {
    connections += 1;
  };
  const listen = async (where: { port: number; host: string } | { path: string }) => {
    const server = createServer((socket) => {
      count();
      socket.destroy();
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(where, resolve));
    return server.address();
  };
  const tcp = await listen({ port: 0, host: "127.0.0.1" });
  const abstractName = `\0flint-escape-${process.pid}-${Math.random()}`;
  await listen({ path: abstractName });
  const path = join(outside, "socket");
  await listen({ path });
  chmodSync(path, 0o777);
  const udp = createSocket("udp4", count);
  onTestFinished(() => void udp.close());
  await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
  const port = typeof tcp === "object" && tcp !== null ? tcp.port : 0;
  return { port, abstractName, path, udpPort: udp.address().port, connections: () => connections };
}

/** Tries every connection and prints those that work. */
function connectScript({ port, abstractName, path, udpPort }: Awaited<ReturnType<typeof listeners>>): string {
  return `
    const net = require("node:net"), dns = require("node:dns");
    const attempt = (name, options) => new Promise((resolve) => {
      const socket = net.connect(options, () => { console.log("CONNECTED " + name); socket.destroy(); resolve(); });
      socket.on("error", resolve);
    });
    const send = () => new Promise((resolve) => {
      const socket = require("node:dgram").createSocket("udp4");
      socket.on("error", resolve);
      socket.send("x", ${udpPort}, "127.0.0.1", () => socket.close(resolve));
    });
    const lookUp = (server) => new Promise((resolve) => {
      const resolver = new dns.Resolver({ timeout: 200, tries: 1 });
      resolver.setServers([server]);
      resolver.resolve4("example.com", (error) => { if (!error) console.log("RESOLVED"); resolve(); });
    });
    Promise.all([
      attempt("tcp", { port: ${port}, host: "127.0.0.1" }),
      attempt("abstract", { path: ${JSON.stringify(abstractName)} }),
      attempt("path", { path: ${JSON.stringify(path)} }),
      attempt("far", { port: 80, host: "192.0.2.1" }),
      send(), lookUp("127.0.0.1:${udpPort}"), lookUp("192.0.2.1"),
    ]).then(() => { console.log("tried"); process.exit(0); });
  `;
}

describe.each(CASES)("escapes from %s, as %s", (mechanism, user) => {
  const { launch, uid, isHere } = USERS[user];
  const test = needs(isHere ? MECHANISM_PARTS[mechanism] : "root");

  test("cannot write outside in any way [P32]", async () => {
    const [workspace, outside] = [folder(uid), folder(uid)];
    mkdirSync(join(workspace, "real"), { mode: 0o777 });
    chmodSync(join(workspace, "real"), 0o777);
    symlinkSync(outside, join(workspace, "link"));
    copyFileSync("/bin/touch", join(outside, "touch"));
    chmodSync(join(outside, "touch"), 0o4755);
    const script = `
      exec 2>/dev/null
      echo in > inside; mkdir -p deep && echo in > deep/inside
      echo out > ${outside}/absolute
      echo out > ../${outside.slice("/var/tmp/".length)}/relative
      echo out > link/linked; ln -s ${outside} fresh; echo out > fresh/linked
      ln ${outside}/touch hard && echo HARDLINKED; mv real ${outside}/moved; cp inside ${outside}/copied
      cd ${outside} && echo out > changed; cd ${workspace}
      for root in /proc/1/root /proc/self/root /proc/$PPID/root /proc/[0-9]*/root /proc/self/cwd/../..; do
        echo out > $root${outside}/through-proc
      done
      for fd in /proc/[0-9]*/fd/*; do echo out > $fd/${outside}/through-fd; done
      ${outside}/touch ${outside}/setuid; unshare -Ur touch ${outside}/nested; unshare -m touch ${outside}/mounted
      mount -o remount,rw / ; mount -o remount,bind,rw ${outside}; mount -o remount,bind,rw /
      mount --bind ${workspace} ${outside}; mount -t tmpfs none ${outside}; umount -l ${workspace}; umount -l /
      echo out > ${outside}/remounted; nsenter -t 1 -m touch ${outside}/entered; chroot / touch ${outside}/chrooted
      mknod disk b 8 0 && echo DEVICE; chown 12345 inside && echo OWNED
      for round in $(seq 50); do
        ln -sfn real swap; (echo out > swap/raced) & ln -sfn ${outside} swap; (echo out > swap/raced) & wait
      done
      echo x > /etc/flint-escape; echo x > /dev/flint-escape; echo x > /sys/flint-escape
      exec 2>&1; grep -E 'Cap(Eff|Prm|Inh|Amb)' /proc/self/status | grep -v ':.0*$'; grep -c 'NoNewPrivs:.1' /proc/self/status
      ls -d /proc/[0-9]* | wc -l > processes; echo done
    `;
    const policy = { type: "workspaceWrite" } as const;
    const outcomes = await launch(mechanism, {
      ...{ workspace, cwd: workspace, policy },
      command: ["sh", "-c", script],
    });
    expect(outcomes).toEqual([{ exitCode: 0, printed: "1\ndone\n" }]);
    expect(readdirSync(outside)).toEqual(["touch"]);
    expect(existsSync(join(workspace, "deep", "inside"))).toBe(true);
    expect(["/etc", "/dev", "/sys"].filter((folder) => existsSync(`${folder}/flint-escape`))).toEqual([]);
  });

  test("cannot reach a port, name or socket without network access [P32]", async () => {
    const [workspace, outside] = [folder(uid), folder(uid)];
    chmodSync(outside, 0o755);
    const known = await listeners(outside);
    const command = [process.execPath, "-e", connectScript(known)];
    const job = { workspace, cwd: workspace, command };
    const policies = ["workspaceWrite", "readOnly"] as const;
    const outcomes = await launch(mechanism, ...policies.map((type) => ({ ...job, policy: { type } })));
    expect(outcomes).toEqual(policies.map(() => ({ exitCode: 0, printed: "tried\n" })));
    expect(known.connections()).toBe(0);
  });

  test("cannot write at all with readOnly, and temporary files are private and bounded [P32]", async () => {
    const workspace = folder(uid);
    writeFileSync(join(workspace, "here"), "text\n");
    chmodSync(join(workspace, "here"), 0o666);
    const script = `cat here; exec 2>/dev/null
    echo x > here; echo x > new; mkdir made; rm here; ln -s a b; touch here; chmod 600 here; mkdir .git
    for place in /tmp /dev/shm; do
      echo x > $place/flint-escape && cat $place/flint-escape
      [ "$(df -k --output=size $place | tail -n 1)" -le 4194304 ] && echo bounded
    done`;
    const job = { workspace, cwd: workspace, command: ["sh", "-c", script] };
    const outcomes = await launch(mechanism, { ...job, policy: { type: "readOnly" } });
    expect(outcomes).toEqual([{ exitCode: 0, printed: "text\nx\nbounded\nx\nbounded\n" }]);
    expect(readdirSync(workspace)).toEqual(["here"]);
    expect([existsSync("/tmp/flint-escape"), existsSync("/dev/shm/flint-escape")]).toEqual([false, false]);
  });
});
