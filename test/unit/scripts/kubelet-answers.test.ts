import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { kubeletValueIssues } from "../../../providers/kubeadm/plan/validation/kubelet-values";
import { textValueIssues } from "../../../providers/kubeadm/plan/validation/field-values";
import { cacheFolder } from "../../../sandbox/toolchain/cache";
import { leaveOut } from "../../left-out";

type Fields = Record<string, unknown>;

const VERSIONS = ["1.36.3", "1.37.2"];
const SECOND_OF_PRIORITY = [{ priority: 0, shutdownGracePeriodSeconds: 10 }];

/** Fields that a kubelet takes or refuses, as foresail has to. */
const FIELDS: readonly Fields[] = [
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

/** What ends every kubelet, so that none of the test runs. */
const END = { maxPods: -1 };

describe("fields of the kubelet", function () {
  this.timeout(120_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-kubelet-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Tells whether a kubelet has nothing against some fields. */
  function takes(program: string, fields: Fields): boolean {
    const file = path.join(folder, "kubelet.json");
    const kind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
    writeFileSync(file, JSON.stringify({ ...kind, failCgroupV1: false, ...END, ...fields }));
    const { stdout, stderr } = spawnSync(program, ["--config", file, "--root-dir", folder], {
      encoding: "utf8",
      timeout: 20_000,
    });
    const said = stdout + stderr;
    assert.match(said, /maxPods|failed to load/, `${JSON.stringify(fields)}: ${said}`);
    return /error: invalid configuration: maxPods [^,]*, path: /.test(said);
  }

  for (const version of VERSIONS)
    it(`are refused if and only if the kubelet of ${version} refuses them (${FIELDS.length} cases)`, function () {
      const program = path.join(cacheFolder(), "programs", `kubernetes-${version}`, "kubelet");
      if (!existsSync(program)) leaveOut(this, `needs the programs of Kubernetes ${version}`);
      for (const fields of FIELDS) {
        const issues = [
          ...kubeletValueIssues(fields, true),
          ...textValueIssues("KubeletConfiguration", fields),
        ];
        assert.equal(issues.length === 0, takes(program, fields), JSON.stringify([fields, issues]));
      }
    });
});
