import { z } from "zod";
import { hostIssue } from "../../lib/validation/addresses";
import { chartIssues, chartNameIssue, chartVersionIssue, digestIssue } from "../../lib/validation/charts";
import { dnsLabelIssue, dnsNameIssue } from "../../lib/validation/names";
import { API_SERVER_PORT, apiPortIssue, loopbackPortIssue } from "../../lib/validation/ports";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { DEFAULT_NETWORK } from "../../providers/kubeadm/plan/cluster/defaults";
import { ciliumValuesIssues } from "../../providers/kubeadm/plan/validation/network-plugin";
import { urlIssue } from "../../lib/validation/urls";
import { podSubnetIssue, serviceSubnetIssue } from "../../providers/kubeadm/plan/validation/network";
import { anyValues, exactlyOne, flag, port, rule, rules, text, url } from "./rule";

const apiPort = () =>
  rule(port(), apiPortIssue).default(API_SERVER_PORT).describe("Port of the load balancer.");

const ENDPOINTS = {
  loopback: z
    .strictObject({
      port: rule(port(), loopbackPortIssue)
        .optional()
        .describe(
          "Port on 127.0.0.1 of every node, on which no pod on the host network may listen; when absent, 7445 for a new cluster. It can't change: a cluster made without it keeps its port, 8443 in earlier releases.",
        ),
    })
    .optional()
    .describe("Built-in high availability: haproxy on every node in front of all control planes."),
  external: z
    .strictObject({
      host: text(hostIssue).describe("Host name or IPv4 address of the load balancer."),
      port: apiPort(),
    })
    .optional()
    .describe(
      "An existing load balancer, which foresail does not change. The kubeconfig names it first, unless control planes are reached in another way.",
    ),
};

/** Schema of an endpoint: exactly one of `loopback` and `external`. It can't change after init. */
export const EndpointConfiguration = exactlyOne(z.strictObject(ENDPOINTS));

/** Schema of an endpoint: exactly one of `loopback`, `external` and `nlb`. */
export const TumblebugEndpoint = exactlyOne(
  z.strictObject({
    ...ENDPOINTS,
    nlb: z
      .strictObject({
        port: apiPort(),
      })
      .optional()
      .describe(
        "A load balancer of the cloud, created by the stack. The number of control planes can't change then.",
      ),
  }),
);

/** Schema of an endpoint: exactly one of `loopback`, `external` and `octavia`. */
export const OpenstackEndpoint = exactlyOne(
  z.strictObject({
    ...ENDPOINTS,
    octavia: z
      .strictObject({
        floatingIp: flag(false, "Give the load balancer a floating IP."),
      })
      .optional()
      .describe("A load balancer of the cloud (Octavia), created by the stack."),
  }),
);

const values = () => anyValues("Values of the Helm chart.");
/** Schema of a text that counts as absent when it is empty. */
const orNone = (issueOf: (value: string) => string | undefined) =>
  text((value) => (value === "" ? undefined : issueOf(value))).optional();
const chartVersion = () => orNone(chartVersionIssue);
const NO_DIGEST = [{ path: ["digest"], message: "belongs to a URL; remove it" }];
const digest = () => text(digestIssue).optional();
const preset = (valuesIssues: (values: Readonly<Record<string, unknown>>) => ValidationIssue[] = () => []) =>
  z.strictObject({
    version: chartVersion().describe(
      "Version of the chart; when absent, the one that foresail was tested with.",
    ),
    digest: digest().describe(
      "Digest of the chart's archive, sha256:…; when absent, the one that foresail knows for its own version, if any.",
    ),
    values: rules(z.record(z.string(), z.unknown()), valuesIssues)
      .default({})
      .describe("Values of the Helm chart, merged over foresail's own; a list replaces foresail's."),
  });

const ManifestPlugin = exactlyOne(
  rules(
    z.strictObject({
      path: z.string().min(1).optional().describe("File with Kubernetes manifests, from the project folder."),
      url: url().optional().describe("URL of Kubernetes manifests."),
      digest: digest().describe(
        "Digest of the manifests at the URL, sha256:…; without it, they are not checked.",
      ),
    }),
    ({ path, digest }) => (path === undefined || digest === undefined ? [] : NO_DIGEST),
  ),
  ["path", "url"],
);

const ChartPlugin = rules(
  z.strictObject({
    chart: rule(z.string().min(1).max(1000), chartNameIssue).describe(
      "Name of the chart in the repository, its path, or an oci:// reference.",
    ),
    repository: orNone((value) => urlIssue(value, ["https", "http"])).describe(
      "URL of the chart repository.",
    ),
    version: chartVersion().describe("Version of the chart."),
    digest: digest().describe(
      "Digest of the chart's archive in the repository, sha256:…; without it, it is not checked.",
    ),
    namespace: text((name) => dnsLabelIssue(name))
      .default("kube-system")
      .describe("Namespace of the release."),
    values: values(),
  }),
  chartIssues,
);

/** Schema of the network plugin: exactly one. */
export const NetworkPluginSchema = exactlyOne(
  z.strictObject({
    bridge: z
      .strictObject({})
      .optional()
      .describe("Built in: each node answers ARP for its pods; for machines on one flat network."),
    cilium: preset(ciliumValuesIssues).optional().describe("Cilium from its Helm chart."),
    calico: preset().optional().describe("Calico from its Helm chart."),
    flannel: preset().optional().describe("Flannel from its Helm chart."),
    none: z.strictObject({}).optional().describe("None: an adopted cluster keeps its own."),
    manifest: ManifestPlugin.optional().describe("Any plugin, as manifests: exactly one of path and url."),
    chart: ChartPlugin.optional().describe("Any plugin, as a Helm chart."),
  }),
);

export const NetworkConfiguration = z.strictObject({
  podSubnet: text(podSubnetIssue)
    .default(DEFAULT_NETWORK.podSubnet)
    .describe(
      "IPv4 block of the pods; each node gets a /24 of it, or what node-cidr-mask-size of the controller manager says.",
    ),
  serviceSubnet: text(serviceSubnetIssue)
    .default(DEFAULT_NETWORK.serviceSubnet)
    .describe("IPv4 block of the services."),
  dnsDomain: text(dnsNameIssue).default(DEFAULT_NETWORK.dnsDomain).describe("DNS domain of the services."),
  plugin: NetworkPluginSchema.prefault({ flannel: {} }).describe("The network plugin: exactly one."),
});
