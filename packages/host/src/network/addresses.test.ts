import { describe, expect, onTestFinished, test } from "vitest";
import { announcePort } from "../sandbox/sockets.ts";
import { isOwnServer, isPublicAddress } from "./addresses.ts";

describe("public addresses", () => {
  test.each(["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:1.1.1.1"])(
    "include %s",
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  test.each([
    ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"],
    ...["168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1"],
    ...["198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a00:1", "::7f00:1"],
    ...["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "fe80::1", "fe80::1%eth0", "fc00::1"],
    ...["fd00:ec2::254", "ff02::1", "2001:db8::1", "2002:7f00:1::", "2001::1", "100::1"],
    ...["", "localhost", "0x7f.1", "127.1"],
  ])("do not include %j", (address) => expect(isPublicAddress(address)).toBe(false));
});

test("a Flint server of this machine is found at each of its addresses, and no other program is", async () => {
  const port = 1_001;
  const own = ["93.184.216.34", "2606:4700::1111"];
  const addresses = [
    "93.184.216.34",
    "::ffff:93.184.216.34",
    "2606:4700::1111",
    "127.0.0.1",
    "127.9.9.9",
    "::1",
  ];
  const found = () =>
    Promise.all([...addresses, "8.8.8.8", "name"].map((each) => isOwnServer([each], port, own)));
  expect(await found()).toEqual([...addresses, "8.8.8.8", "name"].map(() => false));
  const presence = await announcePort(port);
  onTestFinished(() => presence.close());
  expect(await found()).toEqual([...addresses.map(() => true), false, false]);
  expect(await isOwnServer(["93.184.216.34"], port + 1, own)).toBe(false);
});
