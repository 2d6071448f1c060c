import assert from "node:assert/strict";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const READY = KEYS.ready;

describe("the node agent on a cluster that others made", function () {
  this.timeout(120_000);
  let machine: AgentMachine;
  const open = (options?: ConstructorParameters<typeof AgentMachine>[0]) =>
    (machine = new AgentMachine(options));
  afterEach(() => machine?.remove());

  const forms = {
    "in quotes": 'kind: ClusterConfiguration\nkubernetesVersion: "v1.36.3"\n',
    "as JSON": '{"kind":"ClusterConfiguration","kubernetesVersion":"v1.36.3"}',
    "in flow style": "{kind: ClusterConfiguration, kubernetesVersion: v1.36.3, networking: {}}",
    "with a comment": "kubernetesVersion: v1.36.3 # by hand\nkind: ClusterConfiguration\n",
  };
  for (const [form, text] of Object.entries(forms))
    it(`reads the cluster's version from a kubeadm-config ${form}`, () => {
      open({ cluster: "1.36.3" });
      machine.state("kubeadm-config", text);
      machine.setDesired("1.36.3");
      assert.equal(machine.run("--once").status, 0);
      assert.equal(machine.versions.kubelet, "1.36.3");
    });

  it("refuses on a control plane, before it changes anything, when kubeadm-config names no version", () => {
    open({ controlPlane: true });
    machine.state("kubeadm-config", "kind: ClusterConfiguration\n");
    machine.annotate(READY, "true");
    machine.setDesired("1.36.3");
    assert.equal(machine.run("--once").status, 1);
    assert.match(
      machine.annotations[KEYS.message] ?? "",
      /kubernetesVersion in the ConfigMap kubeadm-config/,
    );
    assert.equal(machine.versions.kubeadm, "1.35.4");
  });

  it("gives kubeadm an adopted machine's own patches, where the stack has none", () => {
    const upgradeOf = (member: string) => {
      open({ cluster: "1.36.3" });
      machine.put("/var/lib/foresail/member", member);
      machine.put("/etc/kubernetes/patches/kubeletconfiguration0+merge.yaml", "maxPods: 250\n");
      machine.setDesired("1.36.3");
      assert.equal(machine.run("--once").status, 0);
      const call = machine.changes.find((change) => change.startsWith("kubeadm upgrade"));
      machine.remove();
      return call;
    };
    const own = upgradeOf("adopted 2026-11-26T00:00:00Z\n");
    assert.match(own ?? "", / --patches=\/etc\/kubernetes\/patches$/);
    assert.doesNotMatch(upgradeOf("2026-11-26T00:00:00Z\n") ?? "", /--patches/);
  });
});
