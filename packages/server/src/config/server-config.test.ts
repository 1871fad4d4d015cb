import { afterEach, expect, test, vi } from "vitest";
import { nativeOptions } from "./server-config.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

function ollamaUrl(host: string): string | undefined {
  vi.stubEnv("OLLAMA_HOST", host);
  return nativeOptions().access.ollama?.baseUrl;
}

test.each([
  ["box", "http://box:11434"],
  ["box:99", "http://box:99"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["https://box.example/", "https://box.example"],
])("takes %s as the address of Ollama", (host, url) => {
  expect(ollamaUrl(host)).toBe(url);
});

test.each(["a host", "unix:///run/ollama.sock", "ollama://box:11434"])("rejects %s by its name", (host) => {
  expect(() => ollamaUrl(host)).toThrow(
    `OLLAMA_HOST must be HOST:PORT or an http or https URL, not ${host}.`,
  );
});
