import assert from "node:assert/strict";
import { NODE_PATHS } from "../../providers/kubeadm/plan/cluster/node-paths";
import type { TestCluster } from "./test-cluster";

const PORT = 17445;

/** Edits of haproxy's configuration, and what haproxy then says of its checks. */
const CASES = [
  {
    // RBAC refuses this path to an anonymous user, as an API server refuses every check that allows no such user
    name: "refused",
    edit: "s| GET /readyz$| GET /refused|",
    says: "Layer7 check passed, code: 403",
  },
  {
    name: "failed",
    edit: "s/expect rstatus .*/expect status 299/",
    says: "backend 'control-planes' has no server available",
  },
];

/**
 * Runs a second haproxy on a machine, with the configuration that the machine has and checks that the API servers refuse
 * or fail, and asks an API server through it.
 */
export async function assertEndpointNeedsNoCheck(cluster: TestCluster, machine: string): Promise<void> {
  for (const { name, edit, says } of CASES) {
    const files = `/run/endpoint-${name}`;
    const answer = await cluster.onMachine(
      machine,
      `set -e
sed -e 's/bind .*/bind 127.0.0.1:${PORT}/' -e 's/inter 10s/inter 1s/' -e '${edit}' \\
  -e 's/^defaults$/&\\n  option log-health-checks/' ${NODE_PATHS.haproxy} >${files}.cfg
haproxy -db -f ${files}.cfg >${files}.log 2>&1 &
trap "kill $!; rm -f ${files}.*" EXIT
timeout 60 sh -c 'until grep -qF "${says}" ${files}.log; do sleep 0.2; done' || { cat ${files}.log; exit 1; }
curl --silent --show-error --insecure --max-time 10 https://127.0.0.1:${PORT}/version`,
      90,
    );
    assert.match(answer, /"gitVersion": "v1\./, name);
  }
}
