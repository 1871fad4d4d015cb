import { addCost, addUsage, type Cost, type RunUsage } from "@flint/protocol";

/** Adds the usage of two turns. */
export function addRunUsage(one: RunUsage, other: RunUsage): RunUsage {
  const [tokens, cost] = [
    one.tokens === undefined || other.tokens === undefined
      ? (one.tokens ?? other.tokens)
      : addUsage(one.tokens, other.tokens),
    other.cost === undefined ? one.cost : addCost(one.cost, other.cost),
  ];
  return {
    seconds: one.seconds + other.seconds,
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { cost }),
  };
}

/** The usage of a turn with what its thread has cost meanwhile. */
export function withCost(usage: RunUsage, before: Cost | undefined, after: Cost | undefined): RunUsage {
  if (after === undefined) return usage;
  const amount = after.amount - (before?.currency === after.currency ? before.amount : 0);
  return { ...usage, cost: { ...after, amount: Math.max(0, amount) } };
}
