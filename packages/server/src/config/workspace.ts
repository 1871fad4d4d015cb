export { TrustFile } from "./trust-file.ts";
export { WorkspaceFiles } from "./workspace-files.ts";
