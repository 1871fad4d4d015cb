import { sep } from "node:path";

/** A path that is mounted into the confined file system. */
export interface Bind {
  readonly path: string;
  readonly writable: boolean;
}

/** Outer folders before what is in them. */
export function outermostFirst<Each extends Bind>(binds: readonly Each[]): Each[] {
  return binds
    .filter((bind) => bind.path !== sep)
    .sort((left, right) => depth(left.path) - depth(right.path));
}

function depth(path: string): number {
  return path.split(sep).length;
}
