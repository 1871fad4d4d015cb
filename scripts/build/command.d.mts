export declare function bundleCommand(root: string, dir: string): Promise<void>;
