export function releasedChangelog(text: string, version: string, date: string): string;
export function releasedManifest(text: string, version: string): string;
