import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { isRequestFor, newKeyAndRequest } from "../../../lib/certificate-request";

const KUBELET = { user: "system:node:w-1", groups: ["system:nodes"] };

/** A request as a machine makes it. */
const requestBy = (subject: string, ...further: string[]) =>
  execFileSync(
    "openssl",
    [
      ...["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-keyout", "/dev/null", "-subj", subject, ...further],
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );

describe("a request for a certificate that a machine made", () => {
  it("is for its own kubelet", () => {
    assert.ok(isRequestFor(KUBELET, requestBy("/O=system:nodes/CN=system:node:w-1")));
    const long = `system:node:${"w".repeat(48)}`;
    assert.ok(isRequestFor({ ...KUBELET, user: long }, requestBy(`/O=system:nodes/CN=${long}`)));
    assert.ok(isRequestFor(KUBELET, newKeyAndRequest(KUBELET).request));
  });

  for (const [what, request] of [
    ["another node", () => requestBy("/O=system:nodes/CN=system:node:cp-1")],
    ["a longer name", () => requestBy("/O=system:nodes/CN=system:node:w-11")],
    ["another group", () => requestBy("/O=system:masters/CN=system:node:w-1")],
    ["a second group", () => requestBy("/O=system:nodes/O=system:masters/CN=system:node:w-1")],
    ["a second name", () => requestBy("/O=system:nodes/CN=system:node:w-1/CN=system:node:cp-1")],
    [
      "further names of a server",
      () => requestBy("/O=system:nodes/CN=system:node:w-1", "-addext", "subjectAltName=DNS:cp-1"),
    ],
    ["nothing", () => ""],
    ["no request", () => "-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n"],
    ["two requests", () => requestBy("/O=system:nodes/CN=system:node:w-1").repeat(2)],
  ] as const)
    it(`is refused for ${what}`, () => assert.ok(!isRequestFor(KUBELET, request())));
});
