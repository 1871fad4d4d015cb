/** Ways to do something, each giving what was measured the one time it was done. */
export type Contenders<Name extends string, Value> = Readonly<Record<Name, () => Promise<Value>>>;

/**
 * Measures several things in turns, so that a busy moment of the machine meets all of them alike. The order changes
 * from round to round. One round before the first is not counted: it fills caches and compiles.
 */
export async function interleave<Name extends string, Value>(
  rounds: number,
  contenders: Contenders<Name, Value>,
): Promise<Record<Name, Value[]>> {
  // The keys of a record whose type lists them are exactly these names.
  const names = Object.keys(contenders) as Name[];
  const results = names.map((name) => ({ name, values: [] as Value[] }));
  for (let round = -1; round < rounds; round += 1) {
    const order = round % 2 === 0 ? results : results.toReversed();
    for (const { name, values } of order) {
      const value = await contenders[name]();
      if (round >= 0) values.push(value);
    }
  }
  // Made from the names themselves.
  return Object.fromEntries(results.map(({ name, values }) => [name, values])) as Record<Name, Value[]>;
}
