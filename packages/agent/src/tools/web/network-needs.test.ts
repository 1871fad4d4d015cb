import type { ThreadSettings } from "@flint/protocol";
import { expect, test } from "vitest";
import { settingsIn } from "../../testing/recorded-turn.ts";
import { webNeeds } from "./web-tools.ts";

const needs = (address: string, settings: Partial<ThreadSettings>) =>
  webNeeds(new URL(address), { ...settingsIn("/w"), ...settings });
const UNATTENDED = { approvalPolicy: "never" } as const;

test("a page that the user is asked about needs nothing of the thread's network", () => {
  expect(needs("https://docs.example/a", { approvalPolicy: "unlessTrusted" })).toBeUndefined();
});

test("without approvals a page needs its host, unless the thread may connect to it", () => {
  const network = { hosts: ["docs.example"] };
  expect(needs("https://evil.example/?data", UNATTENDED)).toEqual({
    network: { hosts: ["evil.example:443"] },
  });
  expect(needs("https://docs.example/a", { ...UNATTENDED, network })).toBeUndefined();
  expect(needs("http://docs.example:8080/", { ...UNATTENDED, network })).toEqual({
    network: { hosts: ["docs.example:8080"] },
  });
  expect(needs("https://evil.example/", { ...UNATTENDED, network: "all" })).toBeUndefined();
  expect(
    needs("https://evil.example/", { ...UNATTENDED, sandboxPolicy: { type: "dangerFullAccess" } }),
  ).toBeUndefined();
});

test("without approvals a page of a host that is named with addresses needs that host, because it is not led to these", () => {
  const network = { hosts: ["docs.example=10.1.2.3"] };
  expect(needs("https://docs.example/a", { ...UNATTENDED, network })).toEqual({
    network: { hosts: ["docs.example:443"] },
  });
});

test("a host that no rule can name needs the whole network", () => {
  for (const address of ["http://93.184.215.14/", "https://[2606:4700::1]/", "https://docs.example./"])
    expect(needs(address, UNATTENDED)).toEqual({ network: "all" });
});

test("in a thread without network every page needs its host, also where the user is asked", () => {
  expect(needs("https://docs.example/", { approvalPolicy: "always", network: "none" })).toEqual({
    network: { hosts: ["docs.example:443"] },
  });
});
