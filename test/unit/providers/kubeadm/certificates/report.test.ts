import assert from "node:assert/strict";
import {
  certificateVersion,
  dueRenewal,
  endsByMember,
  nearEnds,
  parseCertificates,
} from "../../../../../providers/kubeadm/plan/certificates/report";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { observeRolloutNode, type RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { describeRolloutStep, planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import {
  certificateNotes,
  withCertificateEnds,
  renewingNodes,
} from "../../../../../providers/kubeadm/resources/certificates/rollout";
import type { Machine } from "../../../../../providers/kubeadm/plan/cluster/machine";
import { desiredFor, nodeAt } from "../rollout/nodes";

const NOW = new Date("2026-11-27T12:00:00Z");
const SOON = "2026-12-09T13:00:00Z";
const LATER = "2027-11-20T00:00:00Z";
const OLD = `apiserver=${SOON} ca=2036-01-01T00:00:00Z etcd-peer=${LATER} kubelet-client=2026-11-28T00:00:00Z`;
const KEYS = annotationKeys();

describe("the report of a node's certificates", () => {
  it("is read only in the agent's own form", () => {
    assert.deepEqual(parseCertificates(`ca=${LATER} foreign`), {
      ends: [{ name: "ca", ends: LATER }],
      isForeign: true,
    });
    for (const text of [
      undefined,
      "",
      "foreign",
      "ca=soon",
      `ca=${LATER}\n`,
      `ca=${LATER}  ca=${LATER}`,
      `x=${LATER} `,
    ])
      assert.equal(parseCertificates(text), undefined, String(text));
    assert.equal(parseCertificates(Array(80).fill(`ca=${LATER}`).join(" ")), undefined);
  });

  it("asks for a renewal of what kubeadm can renew, once the first certificate ends within the days", () => {
    const report = parseCertificates(OLD)!;
    assert.equal(dueRenewal(report, 30, NOW), `after:${SOON}`);
    assert.equal(dueRenewal(report, 12, NOW), undefined);
    assert.equal(dueRenewal(report, 13, NOW), `after:${SOON}`);
    assert.equal(dueRenewal(report, 0, NOW), undefined);
    assert.equal(dueRenewal(parseCertificates(`${OLD} foreign`), 30, NOW), undefined);
    assert.equal(dueRenewal(parseCertificates("kubelet-client=2026-11-28T00:00:00Z"), 30, NOW), undefined);
    assert.equal(dueRenewal(undefined, 30, NOW), undefined);
  });

  it("is at the requested version only when no certificate ends at that instant or before", () => {
    const report = parseCertificates(OLD)!;
    assert.equal(certificateVersion(report, `after:${SOON}`), SOON);
    assert.equal(certificateVersion(report, "after:2026-12-09T12:59:59Z"), "after:2026-12-09T12:59:59Z");
    assert.equal(certificateVersion(report, undefined), SOON);
  });

  it("warns of authorities half a year before, and of a kubelet's certificate when it has ended", () => {
    const options = { days: { renewed: 30, authorities: 180 }, now: NOW, isRenewed: true };
    assert.equal(nearEnds(parseCertificates(OLD)!, options), undefined);
    assert.deepEqual(nearEnds(parseCertificates(OLD)!, { ...options, isRenewed: false }), {
      names: ["apiserver"],
      ends: SOON,
      days: 12,
    });
    const text = "etcd-ca=2027-03-01T00:00:00Z kubelet-client=2026-11-26T00:00:00Z";
    assert.deepEqual(nearEnds(parseCertificates(text)!, options), {
      names: ["etcd-ca", "kubelet-client"],
      ends: "2026-11-26T00:00:00Z",
      days: -2,
    });
  });
});

/** A node whose agent reports this, and whose certificates this run renews if there is a request. */
function reporting(name: string, text: string, renewal?: string): RolloutNode {
  const node = nodeAt(name, "1.36.3");
  const certificates = parseCertificates(text)!;
  const version = certificateVersion(certificates, undefined);
  return {
    ...node,
    current: { ...node.current, ...(version ? { certificates: version } : {}) },
    certificates,
    ...(renewal ? { renewal } : {}),
  };
}

const linesOf = (nodes: RolloutNode[], over: object = {}, version = "1.36.3") =>
  planRollout(nodes, desiredFor(nodes, version, { clusterVersion: "1.36.3", ...over })).steps.map(
    describeRolloutStep,
  );

const RENEW =
  "renew 2 certificates (the first ends on 2026-12-09), restart etcd, the API server, the controller manager and the scheduler";

describe("a rollout of renewed certificates", () => {
  const request = `after:${SOON}`;

  it("goes from one control plane to the next, and leaves workers and those that are not due alone", () => {
    const nodes = [
      reporting("cp-1", OLD, request),
      reporting("cp-2", OLD, request),
      reporting("cp-3", `apiserver=${LATER}`),
      reporting("w-1", "kubelet-client=2026-11-28T00:00:00Z"),
    ];
    assert.deepEqual(linesOf(nodes), [`cp-1: ${RENEW}`, `cp-2: ${RENEW}`]);
    const { steps } = planRollout(nodes, desiredFor(nodes, "1.36.3", { clusterVersion: "1.36.3" }));
    assert.deepEqual(
      steps.map(({ wave, drains }) => [wave, drains]),
      [
        [1, false],
        [2, false],
      ],
    );
  });

  it("goes along with another version or configuration", () => {
    const nodes = [reporting("cp-1", OLD, request)];
    assert.deepEqual(linesOf(nodes, {}, "1.36.4"), [
      "cp-1 1.36.3 → 1.36.4 (cordon, drain, kubeadm upgrade apply, renew 2 certificates, uncordon)",
    ]);
    const configuration = { "control-plane": "aaaaaa.bbbbbb.cccccc", worker: "aaaaaa.bbbbbb" };
    assert.match(linesOf(nodes, { configuration })[0] ?? "", /restart the kubelet, renew 2 certificates/);
  });

  it("is done when the agent reports later ends, and goes on while an earlier run's window is open", () => {
    const observed = (report: string, asked: string, allowed: boolean) =>
      observeRolloutNode({
        metadata: {
          name: "cp-1",
          labels: { "node-role.kubernetes.io/control-plane": "" },
          annotations: {
            [KEYS.current("certificates")]: report,
            [KEYS.desired("certificates")]: asked,
            [KEYS.changesAllowed]: String(allowed),
            [KEYS.ready]: "true",
          },
        },
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          nodeInfo: { kubeletVersion: "v1.36.3" },
        },
      });
    const begun = { ...observed(OLD, request, true), renewal: request };
    assert.deepEqual(linesOf([begun]), [`cp-1: begun by an earlier run: ${RENEW}`]);
    const renewed = observed(`apiserver=${LATER} etcd-peer=${LATER}`, request, false);
    assert.equal(renewed.current.certificates, request);
    assert.deepEqual(linesOf([renewed]), []);
  });

  it("names the end of the certificates themselves, also when they were renewed before", () => {
    const node = reporting("cp-1", OLD, request);
    const again = { ...node, current: { ...node.current, certificates: "after:2025-12-09T13:00:00Z" } };
    assert.deepEqual(linesOf([again]), [`cp-1: ${RENEW}`]);
  });

  it("concerns control planes alone, whatever a worker reports", () => {
    const worker = reporting("w-1", "admin.conf=2020-01-01T00:00:00Z");
    const inputs = {
      machines: [{ name: "w-1" } as Machine],
      specification: { kubeadm: {} } as ClusterSpecification,
    };
    assert.deepEqual(renewingNodes([worker], inputs, NOW), []);
    const members = ["cp-1", "w-1"].map((name) => ({
      ...{ name, role: "worker" as const, version: "1.36.3", address: "192.0.2.1" },
    }));
    const reported = withCertificateEnds(members, [reporting("cp-1", OLD), worker]);
    assert.deepEqual(endsByMember(reported), { "cp-1": SOON });
    assert.equal(parseCertificates("admin.conf=2026-00-00T99:99:99Z"), undefined);
  });

  it("says in remarks how many days are left, and what it does not renew", () => {
    const nodes = [
      reporting("cp-1", `${OLD} etcd-ca=2027-01-01T00:00:00Z`, request),
      reporting("w-1", "kubelet-client=2026-11-20T00:00:00Z"),
    ];
    const plan = planRollout(nodes, desiredFor(nodes, "1.36.3", { clusterVersion: "1.36.3" }));
    assert.deepEqual(
      certificateNotes(
        nodes,
        plan,
        { machines: [], specification: { kubeadm: {} } as ClusterSpecification },
        NOW,
      ),
      [
        "cp-1: 12 days left until the first certificate that is renewed ends",
        "cp-1: certificates end in 34 days, on 2027-01-01: etcd-ca",
        "w-1: certificates ended on 2026-11-20: kubelet-client",
      ],
    );
  });
});
