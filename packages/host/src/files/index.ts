export { FileRefusal, reasonOf, systemRefusal } from "./file-refusal.ts";
export {
  embeddedPicture,
  type ImageInput,
  PICTURE_BYTES,
  type Picture,
  pictureOf,
  readPicture,
} from "./image.ts";
export {
  type Content,
  plainBytes,
  plainText,
  plainTextSync,
  readPlainFile,
  realPlaceOf,
  UNREADABLE,
  unlinkedText,
} from "./plain-file.ts";
export { type FileRevision, loadUnifiedDiff, type UnifiedDiff, unifiedDiff } from "./unified-diff.ts";
