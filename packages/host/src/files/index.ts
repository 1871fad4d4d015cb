export { freeSpace, sizeOf } from "./disk-space.ts";
export { removeEscapingSymlinks } from "./escaping-symlinks.ts";
export { type FileBelow, readBelow, removeBelow, replaceBelow } from "./folder-below.ts";
export {
  type ImageInput,
  imageFromBytes,
  imageFromDataUrl,
  type LoadedImage,
  MAX_IMAGE_BYTES,
  readImage,
} from "./image.ts";
export { exists, isFolder, realPathOrSame, realPathOrSameSync } from "./path-kinds.ts";
export { mayStillRun, processOwner } from "./process-owner.ts";
export {
  asFileAccessError,
  type Content,
  FileAccessError,
  readPlainFile,
  readRegularBytes,
  readRegularText,
  readRegularTextSync,
  readTextNoFollow,
  realPathOf,
  UNREADABLE,
} from "./regular-file.ts";
export {
  type FileRevision,
  linesOf,
  loadUnifiedDiff,
  type UnifiedDiff,
  unifiedDiff,
} from "./unified-diff.ts";
