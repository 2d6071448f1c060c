import { DEFAULT_NETWORK } from "../../providers/kubeadm/plan/defaults";
import { z } from "zod";
import { chartIssues, chartNameIssue, chartVersionIssue } from "../../lib/validation/charts";
import { dnsLabelIssue, dnsNameIssue } from "../../lib/validation/names";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import {
  ciliumValuesIssues,
  podSubnetIssue,
  serviceSubnetIssue,
} from "../../providers/kubeadm/plan/validation/network";
import { urlIssue } from "../../lib/validation/urls";
import { exactlyOne, rule, rules } from "./rule";

const values = () => z.record(z.string(), z.unknown()).default({}).describe("Values of the Helm chart.");
const url = (schemes?: string[]) => rule(z.string(), (text) => urlIssue(text, schemes));
const chartVersion = () => rule(z.string(), chartVersionIssue).optional();
const preset = (valuesIssues: (values: Readonly<Record<string, unknown>>) => ValidationIssue[] = () => []) =>
  z.strictObject({
    version: chartVersion().describe(
      "Version of the chart; when absent, the one that foresail was tested with.",
    ),
    values: rules(z.record(z.string(), z.unknown()), valuesIssues)
      .default({})
      .describe("Values of the Helm chart."),
  });

const ManifestPlugin = exactlyOne(
  z.strictObject({
    path: z.string().min(1).optional().describe("File with Kubernetes manifests, from the project folder."),
    url: url().optional().describe("URL of Kubernetes manifests."),
  }),
);

const ChartPlugin = rules(
  z.strictObject({
    chart: rule(z.string().min(1).max(1000), chartNameIssue).describe(
      "Name of the chart in the repository, its path, or an oci:// reference.",
    ),
    repository: url(["https", "http"]).optional().describe("URL of the chart repository."),
    version: chartVersion().describe("Version of the chart."),
    namespace: rule(z.string(), (name) => dnsLabelIssue(name))
      .default("kube-system")
      .describe("Namespace of the release."),
    values: values(),
  }),
  chartIssues,
);

/** Schema of the network plugin: exactly one. */
export const NetworkPlugin = exactlyOne(
  z.strictObject({
    bridge: z
      .strictObject({})
      .optional()
      .describe("Built in: each node answers ARP for its pods; for machines on one flat network."),
    cilium: preset(ciliumValuesIssues).optional().describe("Cilium from its Helm chart."),
    calico: preset().optional().describe("Calico from its Helm chart."),
    flannel: preset().optional().describe("Flannel from its Helm chart."),
    manifest: ManifestPlugin.optional().describe("Any plugin, as manifests: exactly one of path and url."),
    chart: ChartPlugin.optional().describe("Any plugin, as a Helm chart."),
  }),
);

export const NetworkConfiguration = z.strictObject({
  podSubnet: rule(z.string(), podSubnetIssue)
    .default(DEFAULT_NETWORK.podSubnet)
    .describe("IPv4 block of the pods; each node takes a /24 of it."),
  serviceSubnet: rule(z.string(), serviceSubnetIssue)
    .default(DEFAULT_NETWORK.serviceSubnet)
    .describe("IPv4 block of the services."),
  dnsDomain: rule(z.string(), dnsNameIssue)
    .default(DEFAULT_NETWORK.dnsDomain)
    .describe("DNS domain of the services."),
  plugin: NetworkPlugin.prefault({ flannel: {} }).describe("The network plugin: exactly one."),
});
