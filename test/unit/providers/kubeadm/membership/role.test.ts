import assert from "node:assert/strict";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import {
  type ObservedNode,
  untaintedMachines,
  wantedLabels,
} from "../../../../../providers/kubeadm/plan/membership/nodes";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import { exampleMachine } from "../machine/examples";

const ROLE = "node-role.kubernetes.io/control-plane";

describe("the role of a control plane", () => {
  const machine = exampleMachine("cp-1", { taints: [{ key: "a", effect: "NoExecute" }] });
  const linesFor = (over: Partial<ObservedNode>, kubeadm: ClusterSpecification["kubeadm"] = {}) => {
    const { group, name, internalAddress, taints } = machine;
    const node: ObservedNode = {
      ...{ group, name, internalAddress, taints, controlPlane: true, ready: true, version: "1.36.3" },
      ...{ labels: wantedLabels(machine), ownedLabels: [], ownedTaints: [], unschedulable: false },
      ...over,
    };
    const { steps } = planMembership({
      ...{ group, desired: [machine], recorded: [name], lost: [], observed: [node] },
      untainted: untaintedMachines({ kubeadm }, [machine]),
    });
    return steps.map(nodeGroupSteps.format);
  };

  it("is restored with label and taint when the Node was deleted and came back without", () => {
    const { [ROLE]: _, ...labels } = wantedLabels(machine);
    assert.deepEqual(linesFor({ labels, taints: [], controlPlane: false }), [
      `cp-1: label ${ROLE}=, label node.kubernetes.io/exclude-from-external-load-balancers=, taint ${ROLE}:NoSchedule, taint a:NoExecute`,
    ]);
  });

  it("is restored without the taint where the configuration has none", () => {
    const { [ROLE]: _, ...labels } = wantedLabels(machine);
    const untainted = { nodeRegistration: { taints: [] } };
    const lines = (kubeadm: ClusterSpecification["kubeadm"]) =>
      linesFor({ labels, taints: [], controlPlane: false }, kubeadm).map((line) => line.split(", taint ")[1]);
    assert.deepEqual(lines({ initConfiguration: untainted }), ["a:NoExecute"]);
    assert.deepEqual(lines({ joinConfiguration: untainted }), [`${ROLE}:NoSchedule`]);
  });

  it("has no taint on the first control plane by initConfiguration, and on others by joinConfiguration", () => {
    const machines = ["cp-1", "cp-2"].map((name) => exampleMachine(name));
    const kubeadm = { joinConfiguration: { nodeRegistration: { taints: [] } } };
    assert.deepEqual(untaintedMachines({ kubeadm }, [...machines, exampleMachine("w-1")]), ["cp-2"]);
  });

  it("does not restore a taint that an administrator removed, as long as the label is there", () => {
    assert.deepEqual(linesFor({}), []);
  });
});
