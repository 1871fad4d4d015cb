import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { socketFilter } from "./seccomp.ts";

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const ARCHITECTURES = {
  x64: { audit: 0xc000003e, socket: 41, socketpair: 53, connect: 42 },
  arm64: { audit: 0xc00000b7, socket: 198, socketpair: 199, connect: 203 },
  // EM_RISCV (243) and EM_LOONGARCH (258), 64 bit, little endian; the calls of asm-generic.
  riscv64: { audit: 0xc00000f3, socket: 198, socketpair: 199, connect: 203 },
  loong64: { audit: 0xc0000102, socket: 198, socketpair: 199, connect: 203 },
} as const;

/** Returns the kernel's answer: runs the program on the three words that it may look at. */
function answer(program: Buffer, audit: number, call: number, argument = 0): number {
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const [code, distance] = [program.readUInt16LE(at * 8), program.readUInt8(at * 8 + 2)];
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === 0x20) loaded = { 0: call, 4: audit, 16: argument }[value] ?? Number.NaN;
    else if (code === 0x06) return value;
    else if (code === 0x15 ? loaded === value : code === 0x35 && loaded >= value) at += distance;
  }
  throw new Error("the program ran off its end");
}

describe.each(["x64", "arm64", "riscv64", "loong64"] as const)("the filter for %s", (architecture) => {
  const program = socketFilter(architecture) ?? Buffer.alloc(0);
  const { audit, socket, socketpair, connect } = ARCHITECTURES[architecture];

  test("lets sockets through that a network namespace confines, and no others", () => {
    for (let family = 0; family < 64; family += 1) {
      const expected = [1, 2, 10, 16].includes(family) ? ALLOW : EPERM;
      expect([family, answer(program, audit, socket, family)]).toEqual([family, expected]);
      expect([family, answer(program, audit, socketpair, family)]).toEqual([family, expected]);
    }
  });

  test("lets other calls through, but not io_uring", () => {
    expect([0, connect, 424, 428, 463].map((call) => answer(program, audit, call))).toEqual(
      Array(5).fill(ALLOW),
    );
    expect([425, 426, 427].map((call) => answer(program, audit, call))).toEqual(Array(3).fill(ENOSYS));
  });

  test("refuses calls that are numbered for another architecture", () => {
    const i386 = 0x40000003;
    expect(answer(program, i386, 359, 40)).toBe(EPERM);
    expect(answer(program, i386, 1)).toBe(EPERM);
    const other = ARCHITECTURES[architecture === "x64" ? "arm64" : "x64"].audit;
    expect(answer(program, other, 0)).toBe(EPERM);
  });
});

test("the filter for x64 refuses calls of the x32 ABI", () => {
  const program = socketFilter("x64") ?? Buffer.alloc(0);
  expect(answer(program, ARCHITECTURES.x64.audit, 0x40000029, 2)).toBe(EPERM);
  expect(answer(program, ARCHITECTURES.x64.audit, 0xffffffff)).toBe(EPERM);
});

test("has no filter for a processor whose system calls are unknown", () => {
  expect(socketFilter("s390x")).toBeUndefined();
});

/** Opens sockets and makes calls by number, and prints what came of each. */
const PROBE = `
use strict;
my %family = (unix => 1, inet => 2, inet6 => 10, netlink => 16, vsock => 40, packet => 17, alg => 38, key => 15);
for my $name (sort keys %family) {
  my $type = $name eq "alg" ? 5 : $name eq "netlink" || $name eq "packet" || $name eq "key" ? 3 : 1;
  print "$name ", (socket(my $s, $family{$name}, $type, $name eq "key" ? 2 : 0) ? "open" : $! + 0), "\\n";
}
my $parameters = "\\0" x 120;
print "io_uring ", (syscall(425, 1, $parameters) >= 0 ? "open" : $! + 0), "\\n";
print "x32 ", (syscall(0x40000000 + 41, 2, 1, 0) >= 0 ? "open" : $! + 0), "\\n";
`;

async function probe(args: readonly string[]): Promise<Record<string, string>> {
  const child = spawn(
    "bwrap",
    [
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-user", "--unshare-net", "--cap-drop", "ALL"],
      ...[...args, "--", "perl", "-e", PROBE],
    ],
    { stdio: ["ignore", "pipe", "inherit", "pipe"] },
  );
  const [, stdout, , filter] = child.stdio;
  if (stdout === null || filter === null || filter === undefined || !("end" in filter))
    throw new Error("no pipes");
  filter.on("error", () => undefined);
  filter.end(socketFilter());
  const lines = (await text(stdout)).trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(" ")));
}

describe.runIf(process.arch === "x64")("in bubblewrap", () => {
  const testWithBwrap = needs("bwrap");

  testWithBwrap("the kernel refuses vsock, packet, key and AF_ALG sockets [A19]", async () => {
    expect(await probe(["--seccomp", "3"])).toEqual({
      ...{ unix: "open", inet: "open", inet6: "open", netlink: "open" },
      ...{ vsock: "1", packet: "1", alg: "1", key: "1", io_uring: "38", x32: "1" },
    });
  });

  testWithBwrap("without the filter the kernel answers differently", async () => {
    const found = await probe([]);
    expect([found.io_uring, found.x32]).not.toEqual(["38", "1"]);
  });
});
