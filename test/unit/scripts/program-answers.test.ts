import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { proxyValueIssues } from "../../../providers/kubeadm/plan/validation/proxy-values";
import { kubeletValueIssues } from "../../../providers/kubeadm/plan/validation/kubelet-values";
import { textValueIssues } from "../../../providers/kubeadm/plan/validation/field-values";
import { cacheFolder } from "../../../sandbox/toolchain/cache";
import { leaveOut } from "../../left-out";
import { issuesOf } from "../stacks/schema/issues";
import { cluster, reader } from "../stacks/schema/valid";

type Fields = Record<string, unknown>;

const VERSIONS = ["1.36.3", "1.37.2"];
const SECOND_OF_PRIORITY = [{ priority: 0, shutdownGracePeriodSeconds: 10 }];

/** Fields that a kubelet takes or refuses, as foresail has to. */
const KUBELET: readonly Fields[] = [
  {},
  { imageMinimumGCAge: "10m", imageMaximumGCAge: "5m" },
  { imageMinimumGCAge: "10m", imageMaximumGCAge: "11m" },
  { imageMinimumGCAge: "0s", imageMaximumGCAge: "2m" },
  { imageMaximumGCAge: "0s" },
  { imageMaximumGCAge: "121s" },
  { nodeLeaseDurationSeconds: 0 },
  { nodeLeaseDurationSeconds: -1 },
  { shutdownGracePeriod: "500ms" },
  { shutdownGracePeriod: "0s" },
  { shutdownGracePeriod: "30s", shutdownGracePeriodCriticalPods: "100ms" },
  { shutdownGracePeriod: "30s", shutdownGracePeriodCriticalPods: "10s" },
  { shutdownGracePeriod: "10s", shutdownGracePeriodByPodPriority: SECOND_OF_PRIORITY },
  { shutdownGracePeriod: "0s", shutdownGracePeriodByPodPriority: SECOND_OF_PRIORITY },
  { shutdownGracePeriod: "10s", shutdownGracePeriodByPodPriority: [] },
  { cgroupsPerQOS: false },
  { cgroupsPerQOS: false, enforceNodeAllocatable: ["none"] },
  { enforceNodeAllocatable: ["none", "pods"] },
  { enforceNodeAllocatable: ["pods"] },
  { containerLogMonitorInterval: "1s" },
  { containerLogMonitorInterval: "3s" },
  { containerLogMaxWorkers: 0 },
  { containerLogMaxWorkers: 1 },
  { cpuCFSQuotaPeriod: "2s" },
  { cpuCFSQuotaPeriod: "0s" },
  { cpuCFSQuotaPeriod: "100ms" },
  { reservedSystemCPUs: "0-1", systemReservedCgroup: "/x" },
  { reservedSystemCPUs: "0-1", kubeReservedCgroup: "" },
  { kubeReservedCgroup: "/x" },
  { memoryThrottlingFactor: 2 },
  { memoryThrottlingFactor: 0.9 },
  { tracing: { samplingRatePerMillion: -1 } },
  { tracing: { samplingRatePerMillion: 1_000_001 } },
  { tracing: { samplingRatePerMillion: 100 } },
  { imagePullCredentialsVerificationPolicy: "Sometimes" },
  { imagePullCredentialsVerificationPolicy: "AlwaysVerify" },
  {
    imagePullCredentialsVerificationPolicy: "AlwaysVerify",
    preloadedImagesVerificationAllowlist: ["a.io/x"],
  },
  {
    imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages",
    preloadedImagesVerificationAllowlist: ["a.io/x"],
  },
  { enableSystemLogHandler: false, enableSystemLogQuery: true },
];

/** Fields that a kube-proxy takes or refuses, as foresail has to. */
const PROXY: readonly Fields[] = [
  {},
  { detectLocalMode: "BridgeInterface" },
  { detectLocalMode: "BridgeInterface", detectLocal: { bridgeInterface: "cni0" } },
  { detectLocalMode: "InterfaceNamePrefix", detectLocal: { bridgeInterface: "cni0" } },
  { detectLocalMode: "NodeCIDR" },
  { conntrack: { maxPerCore: -1 } },
  { conntrack: { maxPerCore: 0, min: 0 } },
  { conntrack: { min: -1 } },
  { conntrack: { tcpEstablishedTimeout: "-1s" } },
  { conntrack: { tcpEstablishedTimeout: "0s", udpTimeout: "30s" } },
  { conntrack: { udpStreamTimeout: "-1s" } },
  { mode: "ipvs", ipvs: { tcpTimeout: "-1s" } },
  { ipvs: { tcpTimeout: "-1s" } },
  { mode: "ipvs", ipvs: { excludeCIDRs: ["x"] } },
  { mode: "iptables", ipvs: { excludeCIDRs: ["x"] } },
  { mode: "ipvs", ipvs: { excludeCIDRs: ["192.0.2.0/24"] } },
  { iptables: { syncPeriod: "1s", minSyncPeriod: "10s" } },
  { mode: "nftables", iptables: { syncPeriod: "1s", minSyncPeriod: "10s" } },
  { iptables: { minSyncPeriod: "-1s" } },
  { iptables: { syncPeriod: "0s", minSyncPeriod: "1s" } },
  { iptables: { masqueradeBit: 32 } },
  { nftables: { masqueradeBit: 32 } },
  { mode: "nftables", nftables: { masqueradeBit: 32 } },
  { configSyncPeriod: "-1s" },
  { configSyncPeriod: "0s" },
  { clientConnection: { burst: -1 } },
  { logging: { verbosity: -1 } },
  { logging: { verbosity: 4 } },
  { nodePortAddresses: ["primary"] },
  { nodePortAddresses: ["primary", "10.0.0.0/8"] },
  { nodePortAddresses: ["localhost"] },
  { nodePortAddresses: ["all", "10.0.0.0/8"] },
  { nodePortAddresses: ["eth0"] },
  { oomScoreAdj: 2000 },
  { bindAddress: "localhost" },
];

/** Fields of a ClusterConfiguration that kubeadm takes or refuses, as foresail has to. */
const KUBEADM: readonly Fields[] = [
  {},
  { etcd: { local: { dataDir: "data" } } },
  { etcd: { local: { dataDir: "" } } },
  { etcd: { local: { dataDir: "/data" } } },
  { etcd: { local: { serverCertSANs: ["*"] } } },
  { etcd: { local: { peerCertSANs: ["a b"] } } },
  { etcd: { local: { serverCertSANs: ["192.0.2.1", "*.example.com"], peerCertSANs: ["etcd"] } } },
  { apiServer: { certSANs: ["a b"] } },
  { apiServer: { certSANs: ["api.example.com"] } },
  { encryptionAlgorithm: "RSA-1024" },
  { encryptionAlgorithm: "ECDSA-P256" },
  { certificateValidityPeriod: "1y" },
  { certificateValidityPeriod: "100h", caCertificateValidityPeriod: "10h" },
];

/** Tells whether kubeadm has nothing against some fields. */
function kubeadmTakes(program: string, folder: string, version: string, fields: Fields): boolean {
  const file = path.join(folder, "kubeadm.json");
  const kind = { apiVersion: "kubeadm.k8s.io/v1beta4", kind: "ClusterConfiguration" };
  writeFileSync(file, JSON.stringify({ ...kind, kubernetesVersion: `v${version}`, ...fields }));
  const said = answerOf(program, ["config", "validate", "--config", file]);
  assert.match(said, /^ok\b|error/m, `${JSON.stringify(fields)}: ${said}`);
  return /^ok\b/m.test(said);
}

/** Tells whether a kube-proxy has nothing against some fields: then it looks for its kubeconfig. */
function proxyTakes(program: string, folder: string, { clientConnection = {}, ...fields }: Fields): boolean {
  const file = path.join(folder, "proxy.json");
  const kubeconfig = path.join(folder, "none");
  const kind = { apiVersion: "kubeproxy.config.k8s.io/v1alpha1", kind: "KubeProxyConfiguration" };
  const connection = { kubeconfig, ...(clientConnection as Fields) };
  writeFileSync(file, JSON.stringify({ ...kind, clientConnection: connection, ...fields }));
  const said = answerOf(program, ["--config", file]);
  assert.match(said, /failed|no such file/, `${JSON.stringify(fields)}: ${said}`);
  return said.includes(`stat ${kubeconfig}`);
}

function answerOf(program: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 20_000 });
  return stdout + stderr;
}

/** What ends every kubelet, so that none of the test runs. */
const END = { maxPods: -1 };

describe("fields of the configurations of Kubernetes' programs", function () {
  this.timeout(120_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-kubelet-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Tells whether a kubelet has nothing against some fields. */
  function takes(program: string, fields: Fields): boolean {
    const file = path.join(folder, "kubelet.json");
    const kind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
    writeFileSync(file, JSON.stringify({ ...kind, failCgroupV1: false, ...END, ...fields }));
    const said = answerOf(program, ["--config", file, "--root-dir", folder]);
    assert.match(said, /maxPods|failed to load/, `${JSON.stringify(fields)}: ${said}`);
    return /error: invalid configuration: maxPods [^,]*, path: /.test(said);
  }

  for (const version of VERSIONS) {
    const programOf = (context: Mocha.Context, name: string): string => {
      const program = path.join(cacheFolder(), "programs", `kubernetes-${version}`, name);
      if (!existsSync(program)) leaveOut(context, `needs the programs of Kubernetes ${version}`);
      return program;
    };

    it(`are refused if and only if the kubelet of ${version} refuses them (${KUBELET.length} cases)`, function () {
      const program = programOf(this, "kubelet");
      for (const fields of KUBELET) {
        const issues = [
          ...kubeletValueIssues(fields, true),
          ...textValueIssues("KubeletConfiguration", fields),
        ];
        assert.equal(issues.length === 0, takes(program, fields), JSON.stringify([fields, issues]));
      }
    });

    it(`are refused if and only if the kubeadm of ${version} refuses them (${KUBEADM.length} cases)`, function () {
      const program = programOf(this, "kubeadm");
      for (const clusterConfiguration of KUBEADM) {
        const issues = issuesOf(reader(cluster({ version, kubeadm: { clusterConfiguration } })));
        const isTaken = kubeadmTakes(program, folder, version, clusterConfiguration);
        assert.equal(issues.length === 0, isTaken, JSON.stringify([clusterConfiguration, issues]));
      }
    });

    it(`are refused if and only if the kube-proxy of ${version} refuses them (${PROXY.length} cases)`, function () {
      const program = programOf(this, "kube-proxy");
      for (const fields of PROXY) {
        const issues = [
          ...proxyValueIssues(fields, { version }),
          ...textValueIssues("KubeProxyConfiguration", fields),
        ];
        assert.equal(
          issues.length === 0,
          proxyTakes(program, folder, fields),
          JSON.stringify([fields, issues]),
        );
      }
    });
  }
});
