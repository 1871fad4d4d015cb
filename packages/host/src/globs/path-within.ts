import { relative, resolve, sep } from "node:path";

/** The path relative to a folder; empty for the folder itself, undefined for what is outside of it. */
export function pathWithin(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  if (inside === ".." || inside.startsWith(`..${sep}`) || resolve(inside) === inside) return undefined;
  return inside.split(sep).join("/");
}
