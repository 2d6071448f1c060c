import assert from "node:assert/strict";
import fc from "fast-check";
import { distributionOf, type NodeMarks } from "../../../../cli/forecast/distributions";
import { renderForecastMarkdown, renderForecast } from "../../../../cli/forecast/render";
import { planReport } from "../../../../cli/forecast/report";
import { cleanFacts } from "./facts";

const OPTIONS = {
  target: "1.36.3",
  allow: { force: false, deleteEmptyDirData: false },
  maxUnavailable: 1,
  intermediates: [],
  now: new Date("2026-11-21T12:00:00Z"),
};

interface Marks {
  label?: string;
  kubelet?: string;
  osImage?: string;
  providerID?: string;
}

const node = ({
  label,
  kubelet = "v1.35.4",
  osImage = "Debian GNU/Linux 12",
  providerID,
}: Marks): NodeMarks => ({
  metadata: { name: "n-1", labels: label ? { [label]: "x" } : {} },
  spec: { providerID },
  status: { nodeInfo: { kubeletVersion: kubelet, osImage } },
});
const AKS_NODE = "azure:///subscriptions/1/resourceGroups/mc_rg_prod_westeurope/providers/x";
const KUBEADM_ON_AZURE = "azure:///subscriptions/1/resourceGroups/prod/providers/x";

const CASES: [string, Marks][] = [
  ["Azure Kubernetes Service (AKS)", { label: "kubernetes.azure.com/cluster" }],
  ["Azure Kubernetes Service (AKS)", { providerID: AKS_NODE }],
  ["Amazon Elastic Kubernetes Service (EKS)", { label: "eks.amazonaws.com/nodegroup" }],
  ["Amazon Elastic Kubernetes Service (EKS)", { kubelet: "v1.35.4-eks-1a2b3c4" }],
  ["Google Kubernetes Engine (GKE)", { label: "cloud.google.com/gke-nodepool" }],
  ["Google Kubernetes Engine (GKE)", { kubelet: "v1.35.4-gke.1587003" }],
  ["k3s", { kubelet: "v1.35.4+k3s1" }],
  ["k3s", { providerID: "k3s://n-1" }],
  ["RKE2", { kubelet: "v1.35.4+rke2r1" }],
  ["RKE2", { providerID: "rke2://n-1" }],
  ["k0s", { kubelet: "v1.35.4+k0s" }],
  ["Talos Linux", { osImage: "Talos (v1.12.1)" }],
  ["kOps", { label: "kops.k8s.io/instancegroup" }],
  ["OpenShift", { label: "node.openshift.io/os_id" }],
  ["MicroK8s", { label: "microk8s.io/cluster" }],
];

describe("forecast of a cluster that kubeadm did not make", () => {
  for (const [name, marks] of CASES)
    it(`names ${name} by ${JSON.stringify(marks)}`, () => {
      const plain = node({});
      for (const config of ["absent", "unreadable"] as const)
        assert.equal(distributionOf([plain, node(marks)], config)?.name, name);
      // Cluster API on Azure and EKS Anywhere use kubeadm, too
      assert.equal(distributionOf([plain, node(marks)], "present"), undefined);
    });

  it("names a managed control plane by the version of its API server, without any node", () => {
    assert.equal(
      distributionOf([], "absent", "1.35.4-eks-1a2b3c4")?.evidence,
      "the API server reports version 1.35.4-eks-1a2b3c4",
    );
    assert.match(distributionOf([], "unreadable", "1.35.4-gke.15")?.name ?? "", /GKE/);
  });

  it("takes a cluster without marks for kubeadm's unless it certainly has no kubeadm-config", () => {
    const nodes = [node({ providerID: KUBEADM_ON_AZURE }), node({ providerID: "aws:///eu-west-1a/i-1" })];
    assert.equal(distributionOf(nodes, "unreadable", "1.35.4"), undefined);
    assert.equal(distributionOf(nodes, "present", "1.35.4"), undefined);
    const unnamed = distributionOf(nodes, "absent", "1.35.4");
    assert.deepEqual(
      [unnamed?.name, unnamed?.evidence],
      [undefined, "it has no ConfigMap kube-system/kubeadm-config"],
    );
  });

  it("says how to upgrade it, and lists neither a step nor a verdict", () => {
    const distribution = distributionOf([node({ kubelet: "v1.35.4+k3s1" })], "absent");
    const report = planReport(cleanFacts({ distribution }), OPTIONS);
    assert.deepEqual([report.steps, report.findings, report.blocked], [[], [], false]);
    const text = renderForecast(report);
    assert.match(
      text,
      /\n\nNot a kubeadm cluster but k3s: n-1 runs the kubelet v1\.35\.4\+k3s1\.\n {2}→ .*upgrade this one with its installer/,
    );
    assert.doesNotMatch(text, /Clean|Blocked|Nothing to do|step/);
    const markdown = renderForecastMarkdown(report);
    assert.match(markdown, /^## Rollout to 1\.36\.3\n\n\*\*Not a kubeadm cluster but k3s\*\*: `n-1 runs/);
    assert.doesNotMatch(markdown, /Clean|Blocked|step/);
  });

  it("shows labels and versions of the cluster as text only", () => {
    const hostile = fc
      .array(fc.constantFrom("\n", "\r", "\u001b[2J", "\u202e", "::error::", "a"))
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(hostile, (words) => {
        const found = distributionOf([node({ label: `kops.k8s.io/${words}` })], "absent");
        const text = renderForecast(planReport(cleanFacts({ distribution: found }), OPTIONS));
        assert.ok(text.split("\n").every((line) => !/\p{C}/u.test(line)));
        assert.equal(text.split("\n").length, 6);
      }),
    );
  });
});
