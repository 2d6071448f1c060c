import assert from "node:assert/strict";
import { cloudConf } from "../../../../providers/openstack/plan/cloud-conf";

const own = { authUrl: "https://keystone/v3", applicationCredential: { id: "id", secret: 'a"b\\c' } };

describe("cloud.conf", () => {
  it("says where the cloud is and how to log in, with quotes and backslashes escaped", () => {
    assert.equal(
      cloudConf(own),
      `[Global]
auth-url="https://keystone/v3"
application-credential-id="id"
application-credential-secret="a\\"b\\\\c"
`,
    );
  });

  it("contains the region, the network of floating IPs, and the user's own settings over them", () => {
    const sections = {
      LoadBalancer: { "lb-provider": "ovn", "floating-network-id": "other" },
      BlockStorage: { "bs-version": "v3", "ignore-volume-az": true },
    };
    assert.equal(
      cloudConf({ ...own, region: "one", externalNetworkId: "net", sections })
        .split("\n")
        .slice(4)
        .join("\n"),
      `region="one"

[LoadBalancer]
floating-network-id="other"
lb-provider="ovn"

[BlockStorage]
bs-version="v3"
ignore-volume-az="true"
`,
    );
  });
});
