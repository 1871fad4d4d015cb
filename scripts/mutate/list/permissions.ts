import type { Mutation } from "../mutation.ts";

const NETWORK_GATE = "packages/core/src/approval/network-gate.ts";
const NETWORK_GATE_TESTS = ["packages/core/src/approval/network-gate.test.ts"];
const HOST_GATE = "packages/host/src/network/host-gate.ts";
const HOST_GATE_TESTS = ["packages/host/src/network/host-gate.test.ts"];
const DIAL = "packages/host/src/network/dial.ts";
const DIAL_TESTS = ["packages/host/src/network/dial.test.ts"];
const BROKER = "packages/host/src/sandbox/broker/command-broker.ts";
const BROKER_TESTS = ["packages/host/src/sandbox/broker/command-broker.test.ts"];
const CONFINEMENT = "packages/host/src/sandbox/mechanisms/confinement.ts";
const CONFINEMENT_TESTS = ["packages/host/src/sandbox/mechanisms/confinement.test.ts"];

/** Faults in the network, git, the sandbox, the broker and trust. */
export const PERMISSION_FAULTS: readonly Mutation[] = [
  {
    name: "network-denied-host-allowed",
    promise: "A host that a rule denies is refused, whatever else allows it.",
    file: NETWORK_GATE,
    find: 'if (this.#denied.judge(wanted) === "deny") {',
    replace: 'if (this.#denied.judge(wanted) === "deny" && wanted.port === 0) {',
    tests: NETWORK_GATE_TESTS,
  },
  {
    name: "network-once-holds-for-others",
    promise: "What was answered about one command says nothing about another.",
    file: NETWORK_GATE,
    find: "if (open.itemId === wanted.itemId) return decision;",
    replace: "return decision;",
    tests: NETWORK_GATE_TESTS,
  },
  {
    name: "network-read-only-asks",
    promise: "A read-only thread has no network unless hosts are named.",
    file: NETWORK_GATE,
    find: 'return network ?? (sandboxPolicy.type === "readOnly" ? "none" : undefined);',
    replace: "return network ?? undefined;",
    tests: [...NETWORK_GATE_TESTS, "packages/core/src/approval/policy.test.ts"],
  },
  {
    name: "host-deny-rule-ignored",
    promise: "The proxy refuses a host that a deny rule names.",
    file: HOST_GATE,
    find: 'if (verdict === "deny") return refusal("blocked-by-denylist", "a deny rule names this host");',
    replace: "",
    tests: HOST_GATE_TESTS,
  },
  {
    name: "host-grant-outlives-command",
    promise: "What one command was granted ends with it.",
    file: HOST_GATE,
    find: "this.#commands.delete(id);",
    replace: 'if (id === "") this.#commands.delete(id);',
    tests: HOST_GATE_TESTS,
  },
  {
    name: "host-once-becomes-thread",
    promise: "A host that was allowed once is allowed for that command only.",
    file: HOST_GATE,
    find: 'if (scope === "thread") {',
    replace: 'if (scope === "thread" || scope === "once") {',
    tests: HOST_GATE_TESTS,
  },
  {
    name: "host-unlisted-allowed",
    promise: "Without anyone to ask, a host that no rule allows is refused.",
    file: HOST_GATE,
    find: 'return refusal("blocked-by-allowlist", `it is not',
    replace:
      'return key === "" ? undefined : { outcome: "allow" };\n    return refusal("blocked-by-allowlist", `it is not',
    tests: HOST_GATE_TESTS,
  },
  {
    name: "dial-metadata-address",
    promise: "An allowed host does not lead to the metadata address of a cloud.",
    file: DIAL,
    find: '  ["169.254.0.0", 16],\n',
    replace: "",
    tests: DIAL_TESTS,
  },
  {
    name: "dial-mapped-loopback",
    promise: "An IPv6 address that stands for a private IPv4 address is private.",
    file: DIAL,
    find: 'if (EMBEDDED_4.check(address, "ipv6")) return isPublicAddress(lastFourBytes(address));',
    replace: 'if (EMBEDDED_4.check(address, "ipv6")) return lastFourBytes(address) !== "";',
    tests: DIAL_TESTS,
  },
  {
    name: "git-ref-names-unchecked",
    promise: "Refs with names that agents may not use are not taken over.",
    file: "packages/host/src/git/incoming.ts",
    find: "refs: changed.filter(({ name }) => isChangeable(name)),",
    replace: "refs: changed,",
    tests: ["packages/host/src/git/take-over.test.ts"],
    only: "branch",
  },
  {
    name: "git-lost-commits-look-updated",
    promise: "A branch that loses commits is offered as forced.",
    file: "packages/host/src/git/offered-refs.ts",
    find: 'lost: rows.some(([side]) => side === "<") }',
    replace: "lost: false }",
    tests: ["packages/host/src/git/take-over.test.ts", "packages/host/src/git/take-over-decisions.test.ts"],
  },
  {
    name: "broker-grant-used-twice",
    promise: "An approved command beyond the sandbox runs once.",
    file: BROKER,
    find: 'this.#end(key, "was already used; it was for one run only");',
    replace: "",
    tests: BROKER_TESTS,
  },
  {
    name: "broker-any-folder",
    promise: "A command that was approved for a folder runs only there.",
    file: BROKER,
    find: "if (!isThere) {",
    replace: 'if (!isThere && cwd === "") {',
    tests: BROKER_TESTS,
  },
  {
    name: "broker-grant-outlives-turn",
    promise: "A grant ends with its turn.",
    file: BROKER,
    find: 'signal.addEventListener("abort", revoke, { once: true });',
    replace: 'if (signal.aborted) signal.addEventListener("abort", revoke, { once: true });',
    tests: BROKER_TESTS,
  },
  {
    name: "sandbox-read-only-writes",
    promise: "A read-only sandbox has no writable root.",
    file: CONFINEMENT,
    find: 'return policy.type === "readOnly" ? [] : [',
    replace: 'return policy.type === "readOnly" ? [workspace] : [',
    tests: CONFINEMENT_TESTS,
  },
  {
    name: "sandbox-moved-root",
    promise: "A folder that leads elsewhere than when it was approved is not opened.",
    file: CONFINEMENT,
    find: "if (target === path) continue;",
    replace: "if (target !== undefined) continue;",
    tests: CONFINEMENT_TESTS,
  },
  {
    name: "protected-name-in-capitals",
    promise: "Protected names are protected in any letter case.",
    file: "packages/host/src/sandbox/paths/protected-names.ts",
    find: "LOWER_CASE.has(name.toLowerCase())",
    replace: "LOWER_CASE.has(name)",
    tests: ["packages/host/src/sandbox/paths/protected-paths.test.ts"],
  },
  {
    name: "trust-problem-ignored",
    promise: "A file that cannot be read whole is never trusted.",
    file: "packages/server/src/trust/project-files.ts",
    find: "return problem === undefined && sha256 === trustedHash;",
    replace: "return sha256 === trustedHash;",
    tests: ["packages/server/src/trust/project-files.test.ts"],
  },
  {
    name: "trust-any-content",
    promise: "Trust holds for exactly the content that was reviewed.",
    file: "packages/server/src/trust/project-files.ts",
    find: "return problem === undefined && sha256 === trustedHash;",
    replace: 'return problem === undefined && sha256 !== "" && trustedHash !== undefined;',
    tests: ["packages/server/src/trust/project-files.test.ts"],
  },
];
