/** A path in the spelling that the kernel lists mounts in, which is also that of an fstab. */
export function asInMountinfo(path: string): string {
  return path.replace(/[ \t\n\\]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, "0")}`);
}
