import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";

const PRODUCT = ["components", "providers", "stacks", "lib", "cli"];
const LOADER = "lib/kubernetes/kubeconfig.ts";
const FETCHED = "lib/kubernetes/fetched-kubeconfig.ts";

/**
 * Where each connection's kubeconfig comes from. A new place has to be added here: one that foresail reads from a cluster
 * must be a FetchedKubeconfig, which a preview can't be commanded with; a text is only what the operator gave, or what
 * foresail rendered itself.
 */
const CONNECTIONS: Record<string, string> = {
  "cli/fleet/run/gate-probes.ts": "an output of a stack, as fetched",
  "cli/commands/monitor.ts": "the operator's",
  "cli/commands/kubeconfig.ts": "of the stack, as fetched",
  "cli/commands/status.ts": "of the stack, as fetched",
  "cli/forecast/api-servers.ts":
    "the operator's, with an address of the cluster that its authority has to confirm",
  "cli/forecast/facts.ts": "the operator's",
  "cli/engine/run-plan.ts": "an output of the stack, as fetched",
  "providers/azimuth/client/services-monitor.ts": "fetched",
  "providers/azimuth/resources/service-sync-handlers.ts": "fetched",
  "providers/kubeadm/client/adoptable.ts": "the operator's, or rendered from three fields of admin.conf",
  "providers/kubeadm/resources/adoption/adopted-configuration.ts": "rendered from three fields of admin.conf",
  "providers/kubeadm/resources/session/cluster-session.ts":
    "of the stack, or rendered from three fields of admin.conf",
  "providers/kubeadm/resources/session/preview-reading.ts": "of the stack, or the reader's",
  "providers/kubeadm/resources/adoption/release.ts": "rendered from three fields of admin.conf",
  "providers/kubeadm/resources/rollout/reported-agents.ts": "of the stack",
  "providers/kubeadm/resources/facts/unfinished-change.ts": "of the stack, or the reader's",
  "providers/kubernetes/resources/inputs.ts": "of the stack, or what the caller fetched",
  "providers/machine-pool/resources/pool-session.ts": "fetched, or the operator's",
};

/** The files that name the Secret with a kubeconfig of Cluster API, and what they do with it. */
const NAMED: Record<string, string> = {
  "providers/azimuth/plan/names.ts": "a reference for FetchedKubeconfig.inSecret",
  "providers/azimuth/plan/zenith-values.ts": "a Helm value: a pod in the cluster reads the Secret",
  "providers/machine-pool/resources/pool-session.ts": "FetchedKubeconfig.inSecret",
};

describe("kubeconfigs in the product's code", () => {
  const sources = new Map(
    PRODUCT.flatMap((folder) =>
      (readdirSync(folder, { recursive: true }) as string[])
        .filter((file) => file.endsWith(".ts"))
        .map((file) => [`${folder}/${file}`, readFileSync(`${folder}/${file}`, "utf8")]),
    ),
  );
  const filesWith = (pattern: RegExp) =>
    [...sources]
      .filter(([, text]) => pattern.test(text))
      .map(([file]) => file)
      .sort();

  it("are parsed by one file for connections, which also is the only one that uses the client library's", () => {
    assert.ok(sources.size > 200);
    assert.deepEqual(filesWith(/\breadEndpoints\b/), [
      "lib/kubernetes/client.ts",
      LOADER,
      // both check what they pass on to users
      "providers/azimuth/client/cluster-readiness.ts",
      "providers/azimuth/client/cluster-record.ts",
    ]);
    assert.deepEqual(filesWith(/loadFrom(String|File|Default|Cluster|Options)|new KubeConfig\b/), [LOADER]);
    assert.deepEqual(filesWith(/import\("@kubernetes\/client-node/), [LOADER]);
    assert.deepEqual(filesWith(/import (?!type)[^;]*from "@kubernetes\/client-node/), []);
  });

  it("come from known places", () => {
    const connecting = filesWith(/KubernetesClient\.connect\(|\bconnectTo\(/);
    assert.deepEqual(connecting, Object.keys(CONNECTIONS).sort());
  });

  it("that are in a Secret become a FetchedKubeconfig", () => {
    assert.deepEqual(filesWith(/cluster\}-kubeconfig`/), Object.keys(NAMED).sort());
    assert.deepEqual(filesWith(/FetchedKubeconfig\.inSecret\(/), [
      "providers/azimuth/client/cluster-readiness.ts",
      "providers/azimuth/client/cluster-services.ts",
      "providers/azimuth/client/services-monitor.ts",
      "providers/machine-pool/resources/pool-session.ts",
    ]);
    assert.deepEqual(filesWith(/new FetchedKubeconfig\(/), [
      "cli/commands/up.ts",
      "cli/engine/cluster-state.ts",
      "cli/fleet/run/gate-probes.ts",
      FETCHED,
      // an output of a StackReference
      "lib/pulumi/kubeconfig-input.ts",
      "providers/azimuth/client/cluster-record.ts",
      // the outputs of other stacks
      "stacks/collector.ts",
      "stacks/schema/shared.ts",
    ]);
  });
});
