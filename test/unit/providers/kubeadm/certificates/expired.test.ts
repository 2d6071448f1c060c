import assert from "node:assert/strict";
import type { JsonObject } from "../../../../../lib/merge";
import {
  certificateRepairs,
  parseReadCertificates,
} from "../../../../../providers/kubeadm/plan/certificates/expired";
import { renewalDays, warningDays } from "../../../../../providers/kubeadm/plan/certificates/validity";
import { adminKubeconfigSteps } from "../../../../../providers/kubeadm/plan/steps";

const NOW = new Date("2026-11-27T12:00:00Z");
const ENDED = "2026-11-27T11:00:00Z";
const LATER = "2027-11-20T00:00:00Z";
const of = (end: string) =>
  `apiserver=${end} admin.conf=${end} ca=2036-01-01T00:00:00Z kubelet-client=${LATER}`;

interface Case {
  what: string;
  answers: string[];
  steps: string[];
}

const renewed = (name: string, day: string) =>
  `${name}: renew 2 certificates over SSH, since the first one ended on ${day}, and restart etcd, the API server, the controller manager and the scheduler`;

const CASES: Case[] = [
  {
    what: "renews on each control plane where they have ended",
    answers: [of(ENDED), of(ENDED), of(LATER)],
    steps: [renewed("cp-1", "2026-11-27"), renewed("cp-2", "2026-11-27")],
  },
  {
    what: "goes on where a renewal was killed before the restarts",
    answers: [`${of(LATER)} renewing`, of(LATER)],
    steps: [
      "cp-1: restart etcd, the API server, the controller manager and the scheduler over SSH, since an interrupted run renewed their certificates",
    ],
  },
  {
    what: "renews again where a renewal was killed and a certificate has ended",
    answers: [`${of(ENDED)} renewing serving`],
    steps: [renewed("cp-1", "2026-11-27")],
  },
  {
    what: "leaves a control plane alone whose API server only the machine itself can reach",
    answers: [`${of(ENDED)} serving`],
    steps: [],
  },
  {
    what: "renews nothing without the keys of the authorities",
    answers: [`${of(ENDED)} foreign`],
    steps: [],
  },
  { what: "does nothing when no machine answers", answers: [], steps: [] },
];

describe("a cluster whose certificates have ended", () => {
  for (const { what, answers, steps } of CASES)
    it(what, () => {
      const read = answers.map((answer, at) => parseReadCertificates(`cp-${at + 1}`, `${answer}\n`));
      const repairs = certificateRepairs(read, NOW);
      assert.deepEqual(repairs.map(adminKubeconfigSteps.format), steps);
    });

  it("refuses an answer of another form", () => {
    assert.throws(
      () => parseReadCertificates("cp-1", "bash: openssl: not found"),
      /cp-1 about its certificates/,
    );
  });
});

describe("the days before a renewal", () => {
  const days = (certificateValidityPeriod = "", configured?: number) =>
    renewalDays({ kubeadm: { clusterConfiguration: { certificateValidityPeriod } } }, configured);

  it("are a third of the time for which kubeadm signs, at most", () => {
    assert.equal(days(), 30);
    assert.equal(days("8760h"), 30);
    assert.equal(days("8760h0m0s", 90), 90);
    assert.equal(days("720h"), 10);
    assert.equal(days("soon", 20), 20);
    assert.equal(days("240h", 0), 0);
  });

  it("are those of a warning, too, which a cluster with short certificates would otherwise always have", () => {
    const warned = (clusterConfiguration: JsonObject, configured?: number) =>
      warningDays({ kubeadm: { clusterConfiguration } }, configured);
    assert.deepEqual(warned({}), { renewed: 30, authorities: 180 });
    assert.deepEqual(warned({}, 0), { renewed: 30, authorities: 180 });
    assert.deepEqual(warned({}, 90), { renewed: 90, authorities: 180 });
    const short = { certificateValidityPeriod: "72h", caCertificateValidityPeriod: "2160h" };
    assert.deepEqual(warned(short), { renewed: 1, authorities: 30 });
  });
});
