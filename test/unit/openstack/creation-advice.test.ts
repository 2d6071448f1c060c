import assert from "node:assert/strict";
import { creationAdvice, needsFault } from "../../../core/openstack/creation-advice";

const INSTANCE = "openstack:compute/instance:Instance";
const IN_ERROR =
  "Error waiting for instance (0c1) to become ready: unexpected state 'ERROR', wanted target 'ACTIVE'. last error: %!s(<nil>)";

const advice = (errors: string[], fault?: string, type = INSTANCE) =>
  creationAdvice({ type, name: "demo-w-1-aaaaa", errors, ...(fault === undefined ? {} : { fault }) });

describe("what is said of an object that a cloud could not make", () => {
  it("asks the cloud for the reason only where the provider has none", () => {
    assert.ok(needsFault({ type: INSTANCE, errors: [IN_ERROR] }));
    assert.ok(!needsFault({ type: INSTANCE, errors: ["Forbidden: Quota exceeded for instances"] }));
    assert.ok(!needsFault({ type: "openstack:networking/port:Port", errors: [IN_ERROR] }));
  });

  it("has the cloud's reason and what to do, when no host has room", () => {
    assert.equal(
      advice([IN_ERROR], "No valid host was found. There are not enough hosts available"),
      "demo-w-1-aaaaa could not be made: No valid host was found. There are not enough hosts available. " +
        "What to do: no host of the cloud has room for such a server: take another flavour, image or zone, or ask the cloud's " +
        "operator for room, then run the same again: what was made is kept",
    );
  });

  it("has another fault as the cloud words it", () => {
    assert.match(
      advice([IN_ERROR], "Build of instance aborted: image is corrupt") ?? "",
      /made: Build of instance aborted: image is corrupt\. What to do: take another flavour, image or zone, then/,
    );
  });

  it("names the quota that is used up, in the words of Nova, Neutron and a server's fault", () => {
    const nova =
      'Error creating OpenStack server: Expected HTTP response code [200] but got 403 instead: {"forbidden": {"code": 403, "message": "Quota exceeded for instances: Requested 1, but already used 2 of 2 instances"}}';
    assert.match(
      advice([nova]) ?? "",
      /\(Quota exceeded for instances: Requested 1, but already used 2 of 2 instances\)\. What to do: ask for more of it/,
    );
    const neutron =
      '409 instead: {"NeutronError": {"type": "OverQuota", "message": "Quota exceeded for resources: [\'floatingip\'].", "detail": ""}}';
    const floating = advice([neutron], undefined, "openstack:networking/floatingIp:FloatingIp");
    assert.match(floating ?? "", /\(Quota exceeded for resources: \['floatingip'\]\)/);
    assert.match(advice([IN_ERROR], "Quota exceeded for cores") ?? "", /ask for more of the quota/);
  });

  it("adds nothing to what the provider says of anything else", () => {
    assert.equal(advice(["the service is unable to handle the request"]), undefined);
    assert.equal(advice([IN_ERROR]), undefined);
  });
});
