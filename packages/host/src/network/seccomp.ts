import { endianness } from "node:os";

/** The processors for which a filter can be built, as Node names them. */
export type FilterArchitecture = keyof typeof CALLS;

/** Opcodes of classic BPF, as in linux/bpf_common.h: a class, a size or an operation, and a mode. */
const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;

/** Answers of a filter, as in linux/seccomp.h. */
const ALLOW = 0x7fff0000;
const FAIL_WITH = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;

/**
 * Offsets in `struct seccomp_data` of the number of the call, the architecture, and the lower half of the
 * first argument.
 */
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

/** The families a command may open sockets of: UNIX, INET, NETLINK and INET6. */
const FAMILIES = [1, 2, 16, 10];

/** The same three calls on every architecture since they were added. */
const IO_URING = [425, 426, 427];

/** From here on a number on x64 means a call of the x32 ABI, which is numbered apart. */
const X32_CALLS = 0x40000000;

/** Others, such as s390x, may open sockets by socketcall, whose arguments are in memory that a filter cannot read. */
const CALLS = {
  x64: { audit: 0xc000003e, socket: 41, socketpair: 53 },
  arm64: { audit: 0xc00000b7, socket: 198, socketpair: 199 },
  riscv64: { audit: 0xc00000f3, socket: 198, socketpair: 199 },
  loong64: { audit: 0xc0000102, socket: 198, socketpair: 199 },
} as const;

/** One instruction. A jump goes to the step with that label if the comparison holds, and to the next one otherwise. */
type Step = { readonly label?: Label } & (
  | { readonly load: number }
  | { readonly compare: number; readonly value: number; readonly to: Label }
  | { readonly answer: number }
);

type Label = "known" | "socket" | "allow" | "refuse" | "missing";

/**
 * Builds the program for `bwrap --seccomp`: only sockets that the network namespace confines can be opened, so no vsock,
 * packet, key or AF_ALG sockets. io_uring does not exist, because it opens sockets past the filter, and calls of another
 * architecture are refused, because they are numbered differently. Undefined for processors that have no numbers here.
 */
export function socketFilter(architecture: string = process.arch): Buffer | undefined {
  return hasFilter(architecture) ? encode(filterSteps(architecture)) : undefined;
}

function hasFilter(architecture: string): architecture is FilterArchitecture {
  return Object.hasOwn(CALLS, architecture);
}

function filterSteps(architecture: FilterArchitecture): Step[] {
  const { audit, socket, socketpair } = CALLS[architecture];
  const equal = (value: number, to: Label): Step => ({ compare: JUMP_EQUAL, value, to });
  return [
    { load: ARCHITECTURE },
    equal(audit, "known"),
    { answer: FAIL_WITH + EPERM },
    { load: CALL_NUMBER, label: "known" },
    ...(architecture === "x64" ? [{ compare: JUMP_AT_LEAST, value: X32_CALLS, to: "refuse" } as const] : []),
    ...IO_URING.map((call) => equal(call, "missing")),
    equal(socket, "socket"),
    equal(socketpair, "socket"),
    { answer: ALLOW },
    { load: FIRST_ARGUMENT, label: "socket" },
    ...FAMILIES.map((family) => equal(family, "allow")),
    { answer: FAIL_WITH + EPERM, label: "refuse" },
    { answer: FAIL_WITH + ENOSYS, label: "missing" },
    { answer: ALLOW, label: "allow" },
  ];
}

/** As the array of `struct sock_filter` that the kernel reads: code, two distances of a jump, and a value. */
function encode(steps: readonly Step[]): Buffer {
  const bytes = Buffer.alloc(steps.length * 8);
  steps.forEach((step, at) => {
    const [code, distance, value] = encodeStep(steps, step, at);
    const start = at * 8;
    if (endianness() === "LE") {
      bytes.writeUInt16LE(code, start);
      bytes.writeUInt32LE(value, start + 4);
    } else {
      bytes.writeUInt16BE(code, start);
      bytes.writeUInt32BE(value, start + 4);
    }
    bytes.writeUInt8(distance, start + 2);
  });
  return bytes;
}

function encodeStep(steps: readonly Step[], step: Step, at: number): [number, number, number] {
  if ("load" in step) return [LOAD_WORD, 0, step.load];
  if ("answer" in step) return [RETURN, 0, step.answer];
  const target = steps.findIndex(({ label }) => label === step.to);
  if (target <= at) throw new Error(`A jump of the filter goes to ${step.to}, which does not follow it.`);
  return [step.compare, target - at - 1, step.value];
}
