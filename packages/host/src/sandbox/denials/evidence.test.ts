import { describe, expect, test } from "vitest";
import { denialEvidence } from "./evidence.ts";

const NOTHING = { readOnlyPaths: [], skippedByGit: [], triedDirectly: false, localPorts: [] };

/** In the form in which the programs of Debian 12 print them. */
const READ_ONLY: readonly (readonly [string, string, number, readonly string[]])[] = [
  ["touch", "touch: cannot touch '/etc/made': Read-only file system\n", 1, ["/etc/made"]],
  [
    "mkdir in a UTF-8 locale",
    "mkdir: cannot create directory ‘/opt/a b’: Read-only file system\n",
    1,
    ["/opt/a b"],
  ],
  ["dash", "sh: 1: cannot create /etc/made: Read-only file system\n", 2, ["/etc/made"]],
  ["bash", "bash: line 1: /etc/made: Read-only file system\n", 1, ["/etc/made"]],
  ["a shell with its path", "/bin/bash: line 1: ../a b/made: Read-only file system\n", 1, ["../a b/made"]],
  ["dash with its path", "/bin/sh: 1: cannot create ../made: Read-only file system\n", 2, ["../made"]],
  [
    "cp",
    "cp: cannot create regular file '/usr/local/bin/x': Read-only file system\n",
    1,
    ["/usr/local/bin/x"],
  ],
  ["a relative path", "touch: cannot touch '../made': Read-only file system\n", 1, ["../made"]],
  [
    "python",
    "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nOSError: [Errno 30] Read-only file system: '/etc/made'\n",
    1,
    ["/etc/made"],
  ],
  [
    "node",
    "Error: EROFS: read-only file system, open '/etc/made'\n    at Object.openSync (node:fs:596:3) {\n  errno: -30,\n  code: 'EROFS',\n  path: '/etc/made'\n}\n",
    1,
    ["/etc/made", "EROFS"],
  ],
  [
    "npm",
    "npm error code EROFS\nnpm error syscall mkdir\nnpm error path /usr/local/lib/node_modules/x\nnpm error rofs EROFS: read-only file system, mkdir '/usr/local/lib/node_modules/x'\nnpm error rofs Often virtualized file systems, or other file systems\n",
    226,
    ["/usr/local/lib/node_modules/x"],
  ],
  [
    "pip",
    "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/usr/lib/python3/dist-packages/x'\n",
    1,
    ["/usr/lib/python3/dist-packages/x"],
  ],
  [
    "git",
    "fatal: Unable to create '/p/.git/index.lock': Read-only file system\n",
    128,
    ["/p/.git/index.lock"],
  ],
  [
    "git with a new protected file",
    "fatal: cannot rmdir '.npmrc': Device or resource busy\n",
    128,
    [".npmrc"],
  ],
  [
    "git in a protected folder",
    "error: unable to create file .vscode/new.json: Read-only file system\n",
    1,
    [".vscode/new.json"],
  ],
];

describe("a read-only file system", () => {
  test.each(READ_ONLY)("is recognised in the output of %s", (_program, output, exitCode, paths) => {
    expect(denialEvidence(output, exitCode).readOnlyPaths).toEqual(paths);
  });

  test("is looked for at the end, and not in the output of a command that succeeded", () => {
    const line = "touch: cannot touch '/etc/made': Read-only file system\n";
    expect(denialEvidence(line, 0)).toEqual(NOTHING);
    expect(denialEvidence(`${line}${"x".repeat(70_000)}`, 1)).toEqual(NOTHING);
  });
});

describe("an attempt without the proxy", () => {
  test.each([
    ["curl", "curl: (6) Could not resolve host: registry.example\n", 6],
    ["git", "fatal: unable to access 'https://git.example/x/': Could not resolve host: git.example\n", 128],
    ["ssh", "ssh: Could not resolve hostname git.example: Temporary failure in name resolution\n", 255],
    [
      "node",
      "TypeError: fetch failed\n  [cause]: Error: getaddrinfo EAI_AGAIN registry.example\n  code: 'EAI_AGAIN'\n",
      1,
    ],
    [
      "npm",
      "npm error code EAI_AGAIN\nnpm error request to https://registry.example/zod failed, reason: getaddrinfo EAI_AGAIN registry.example\n",
      1,
    ],
    [
      "pip",
      "NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')\n",
      1,
    ],
    ["python", "socket.gaierror: [Errno -3] Temporary failure in name resolution\n", 1],
    ["ping", "ping: connect: Network is unreachable\n", 2],
  ])("is recognised in the output of %s", (_program, output, exitCode) => {
    expect(denialEvidence(output, exitCode)).toMatchObject({ triedDirectly: true, readOnlyPaths: [] });
  });
});

test.each([
  ["a permission", "cat: /etc/shadow: Permission denied\n", 1],
  ["an operation", "chown: changing ownership of 'x': Operation not permitted\n", 1],
  ["a server that says forbidden", "curl: (22) The requested URL returned error: 403\nForbidden\n", 22],
  ["a timeout", "curl: (28) Operation timed out after 1000 milliseconds\n", 28],
  ["a signal", "Bad system call\n", 159],
  ["a missing program", "sh: 1: foo: not found\n", 127],
])("%s is an ordinary failure", (_name, output, exitCode) => {
  expect(denialEvidence(output, exitCode)).toEqual(NOTHING);
});

test.each([
  ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?\n", "Docker"],
  ["Failed to connect to bus: No such file or directory\n", "D-Bus"],
  ["unshare: unshare failed: No space left on device\n", "inside of the sandbox"],
])("%s is a hint that only leaving the sandbox helps", (output, word) => {
  expect(denialEvidence(output, 1).hint).toContain(word);
});

/** In the form in which they were printed by curl 7.88, Node 20, wget 1.21, psql 15, redis-cli 7, Go and Python's requests. */
const LOCAL_PORTS: readonly (readonly [string, string, readonly number[]])[] = [
  [
    "curl",
    "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server\n",
    [3000],
  ],
  ["node", "Error: connect ECONNREFUSED ::1:3000\nError: connect ECONNREFUSED 127.0.0.1:3000\n", [3000]],
  ["wget", "Connecting to localhost (localhost)|127.0.0.1|:8080... failed: Connection refused.\n", [8080]],
  [
    "psql",
    'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused\n',
    [5432],
  ],
  ["redis-cli", "Could not connect to Redis at 127.0.0.1:6379: Connection refused\n", [6379]],
  ["Go", "dial tcp [::1]:9000: connect: connection refused\n", [9000]],
  [
    "requests",
    "HTTPConnectionPool(host='localhost', port=5000): Max retries exceeded (Caused by NewConnectionError('[Errno 111] Connection refused'))\n",
    [5000],
  ],
];

describe("a port of localhost at which nothing answers", () => {
  test.each(LOCAL_PORTS)("is recognised in the output of %s", (_program, output, ports) => {
    expect(denialEvidence(output, 1).localPorts).toEqual(ports);
  });

  test("is none if the command succeeded, or another host refused the connection", () => {
    expect(
      denialEvidence("curl: (7) Failed to connect to localhost port 3000: Connection refused", 0),
    ).toEqual(NOTHING);
    expect(denialEvidence("connect ECONNREFUSED 192.0.2.1:3000\nlistening on localhost:3000\n", 1)).toEqual(
      NOTHING,
    );
    expect(denialEvidence("Failed to connect to localhost port 99999", 1)).toEqual(NOTHING);
  });
});
