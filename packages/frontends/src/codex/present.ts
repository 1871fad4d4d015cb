/** The fields of an object that say something: those of a peer may be null or left out, which mean the same. */
export type Present<Fields> = { [Name in keyof Fields]?: NonNullable<Fields[Name]> };

/** Leaves out what is null or undefined. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  const said: unknown = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  // Only fields of the object are left, and none of them is null.
  return said as Present<Fields>;
}
