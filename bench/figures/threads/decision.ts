import { type Action, describeGrant, type Grant } from "@flint/protocol";
import { type Actor, coveringGrants } from "../../../packages/core/src/approval/grants.ts";
import { judge } from "../../../packages/core/src/approval/policy.ts";
import type { Bench, Figure } from "../../bench.ts";

const RULES = 200;
const actor: Actor = { project: "/repo", agent: "flint", realPath: (path) => path };
const action: Action = {
  ...{ kind: "command", itemId: "i", command: "npm run build -- --all", cwd: "/repo" },
  needs: { network: { hosts: ["registry.example:443"] } },
};

/** A decision about a command that needs a host, with 200 rules of this project that do not cover it. */
export const decision: Figure = {
  name: "decision",
  async measure(bench: Bench) {
    const rules = Array.from({ length: RULES }, (_, at) => rule(at));
    const rounds = Array.from({ length: bench.choose(20, 5) }, () => round(rules, bench.choose(2_000, 200)));
    return [
      {
        figure: `permission decision with ${RULES} rules`,
        value: Math.min(...rounds.slice(1)),
        unit: "µs",
        target: { of: "value", most: 50 },
      },
    ];
  },
};

/** Every second rule is a prefix, the others are exact commands with a host. */
function rule(at: number): Grant {
  const command = `npm run task-${at}`;
  const subject =
    at % 2 === 0
      ? { tool: "command", match: { type: "prefix" as const, words: ["npm", "run", `task-${at}`] } }
      : {
          ...{ tool: "command", match: { type: "exact" as const, command, cwd: "/repo" } },
          permission: { network: { hosts: [`host-${at}.example`] } },
        };
  return {
    ...{ id: `r${at}`, project: "/repo", agent: "flint", ...subject },
    ...{ scope: "always", words: describeGrant(subject), grantedAt: 0 },
  };
}

/** The mean processor time of one decision in microseconds. */
function round(rules: readonly Grant[], times: number): number {
  const start = process.cpuUsage();
  for (let count = 0; count < times; count += 1) {
    const granted = coveringGrants(action, actor, rules, 1) !== undefined;
    if (judge({ approvalPolicy: "unlessTrusted", action, granted }).kind !== "ask")
      throw new Error("It was not asked about.");
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / times;
}
