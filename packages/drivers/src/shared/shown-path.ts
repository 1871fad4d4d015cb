import { isAbsolute, relative } from "node:path";

/** A path as it is shown to users: relative to the workspace if the file is in it. */
export function shownPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path;
  const inside = relative(cwd, path);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}
