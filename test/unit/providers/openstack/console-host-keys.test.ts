import assert from "node:assert/strict";
import { consoleHostKeys } from "../../../../providers/openstack/client/facts";

const ED = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
const EC = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY=";
const block = (...lines: string[]) =>
  ["-----BEGIN SSH HOST KEY KEYS-----", ...lines, "-----END SSH HOST KEY KEYS-----"].join("\n");

describe("host keys on a console", () => {
  const cases: [what: string, log: string, keys: string[]][] = [
    [
      "are read without their comments",
      `boot\n${block(`${ED} root@w-1`, `${EC} root@w-1`)}\nlogin: `,
      [ED, EC],
    ],
    [
      "are none before cloud-init has printed them all",
      `boot\n${block(ED).split("\n").slice(0, 2).join("\n")}`,
      [],
    ],
    ["are none on an empty console", "", []],
    ["are those of the last boot", `${block(EC)}\n${block(ED)}`, [ED]],
    [
      "are found behind what a log writes before each line",
      block(`[   12.3] cloud-init[512]: ${ED} root@w-1`),
      [ED],
    ],
    ["are found with carriage returns", block(`${ED}\r`).replaceAll("\n", "\r\n"), [ED]],
    [
      "are not fingerprints",
      "-----BEGIN SSH HOST KEY FINGERPRINTS-----\n256 SHA256:x\n-----END SSH HOST KEY FINGERPRINTS-----",
      [],
    ],
  ];
  for (const [what, log, keys] of cases) it(what, () => assert.deepEqual(consoleHostKeys(log), keys));
});
