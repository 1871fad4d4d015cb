export declare function bundleModules(
  root: string,
  input: Readonly<Record<string, string>>,
  dir: string,
  options?: {
    readonly platform?: "node" | "browser";
    readonly external?: (id: string) => boolean;
    readonly extension?: ".js" | ".mjs";
  },
): Promise<void>;
