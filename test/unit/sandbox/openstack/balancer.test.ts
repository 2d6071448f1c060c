import assert from "node:assert/strict";
import { balancerScript, renderBalancer } from "../../../../sandbox/openstack/machines/balancer";

const listener = {
  port: 6443,
  cidrs: ["10.0.0.0/24", "10.1.0.1/32"],
  members: [
    { address: "10.0.0.5", port: 6443 },
    { address: "10.0.0.6", port: 6443 },
  ],
  check: { delay: 5, timeout: 3, fall: 2, rise: 3 },
};

describe("the machine that replaces Octavia's amphora", () => {
  it("forwards connections from the allowed blocks to the members that its monitor finds healthy", () => {
    const text = renderBalancer([listener]);
    const lines = text.slice(text.indexOf("listen ")).trim().split("\n");
    assert.deepEqual(
      lines.map((line) => line.trim()),
      [
        "listen port-6443",
        "bind :6443",
        "tcp-request connection reject unless { src 10.0.0.0/24 10.1.0.1/32 }",
        "balance roundrobin",
        "timeout check 3s",
        "default-server check inter 5s fall 2 rise 3 on-marked-down shutdown-sessions",
        "server member-1 10.0.0.5:6443",
        "server member-2 10.0.0.6:6443",
      ],
    );
  });

  it("forwards to every member without a monitor, and from everyone without blocks", () => {
    const text = renderBalancer([{ ...listener, cidrs: [], check: null }]);
    assert.doesNotMatch(text, /reject|check/);
  });

  it("has no haproxy running without listeners, since it refuses to run without any", () => {
    assert.equal(balancerScript([]), "systemctl stop haproxy");
    assert.match(balancerScript([listener]), /base64 -d > \/etc\/haproxy\/haproxy\.cfg/);
  });
});
