import { type Fields, fields } from "./server-under-test.ts";

/** The paths of all fields in a value that its schema does not name anywhere; ordinary validation lets them pass. */
export function unknownFields(schema: Fields, value: unknown): string[] {
  return walk([schema], value, { root: schema, path: "" });
}

interface Location {
  readonly root: Fields;
  readonly path: string;
}

function walk(schemas: readonly Fields[], value: unknown, { root, path }: Location): string[] {
  const all = schemas.flatMap((schema) => flatten(schema, root));
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items }) => (items === undefined ? [] : [fields(items)]));
    return items.length === 0
      ? []
      : value.flatMap((item, at) => walk(items, item, { root, path: `${path}/${at}` }));
  }
  if (typeof value !== "object" || value === null) return [];
  const shapes = all.filter(({ properties }) => properties !== undefined);
  const isFree = all.some(isFreeObject);
  return Object.entries(value).flatMap(([name, member]) => {
    const location = { root, path: `${path}/${name}` };
    const known = shapes.flatMap(({ properties }) => {
      const property = fields(properties)[name];
      return property === undefined ? [] : [fields(property)];
    });
    if (known.length > 0) return walk(known, member, location);
    return isFree || shapes.length === 0 ? [] : [location.path];
  });
}

/** A schema of which any field may be there. */
function isFreeObject({ additionalProperties, properties, type }: Fields): boolean {
  if (additionalProperties !== undefined && additionalProperties !== false) return true;
  return properties === undefined && type === "object";
}

/** A schema with everything it is made of. A schema that is `true` allows all. */
function flatten(schema: Fields, root: Fields): Fields[] {
  const { $ref, allOf, anyOf, oneOf } = schema;
  const parts = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.map(fields) : []));
  const named = typeof $ref === "string" ? [resolve($ref, root)] : [];
  return [schema, ...[...named, ...parts].flatMap((part) => flatten(part, root))];
}

function resolve(reference: string, root: Fields): Fields {
  return reference
    .replace(/^#\//, "")
    .split("/")
    .reduce((value: Fields, key) => fields(value[key]), root);
}
