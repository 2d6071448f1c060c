import assert from "node:assert/strict";
import { reservationRefusals } from "../../../../../providers/kubeadm/plan/rollout/reserved";

const node = (name: string, capacity?: Record<string, string>) => ({
  metadata: { name },
  status: capacity === undefined ? {} : { capacity },
});
const SMALL = node("w-1", { cpu: "2", memory: "4016844Ki", "ephemeral-storage": "30Gi" });
const LARGE = node("cp-1", { cpu: "64", memory: "2Ti", "ephemeral-storage": "4Ti" });

describe("what a kubelet reserves", () => {
  const fits: Record<string, object> = {
    nothing: {},
    "a part of everything": {
      systemReserved: { cpu: "500m", memory: "1Gi", "ephemeral-storage": "1Gi", pid: "1000" },
      kubeReserved: { cpu: "1.5", memory: "2Gi" },
    },
    "all memory but the default limit of evictions": { systemReserved: { memory: "3914444Ki" } },
    "all memory, without a limit of evictions": {
      systemReserved: { memory: "4016844Ki" },
      evictionHard: { "nodefs.available": "10%" },
    },
    "all of it in two parts whose sum is not exact": {
      systemReserved: { cpu: "1651m" },
      kubeReserved: { cpu: "349m" },
    },
    "all memory beside a limit of everything, which is none": {
      systemReserved: { memory: "4016844Ki" },
      evictionHard: { "memory.available": "100%" },
    },
    "processors by number, whatever the amount is": {
      systemReserved: { cpu: "8" },
      reservedSystemCPUs: "0-1",
    },
    "what can't be read, which has its own rule": { systemReserved: { memory: "900GB" } },
  };
  for (const [what, kubelet] of Object.entries(fits))
    it(`may be ${what}`, () => assert.deepEqual(reservationRefusals([SMALL, LARGE], { ...kubelet }), []));

  it("may be anything on a Node that does not say what it has", () =>
    assert.deepEqual(reservationRefusals([node("w-2")], { systemReserved: { memory: "900Gi" } }), []));

  const beyond: [string, object, RegExp][] = [
    [
      "more memory than some Nodes have",
      { systemReserved: { memory: "900Gi" } },
      /^the kubelet would reserve 900Gi \+ 100Mi of memory, and w-1 has 4016844Ki: it would end at its start\. Write less in systemReserved, kubeReserved or evictionHard$/,
    ],
    [
      "more than all Nodes have, by a few bytes of both reservations",
      { systemReserved: { cpu: "32" }, kubeReserved: { cpu: "32001m" } },
      /32 \+ 32001m of cpu, and w-1 has 2, cp-1 has 64:/,
    ],
    [
      "too much with the default limit of an empty map",
      { systemReserved: { memory: "4016844Ki" }, evictionHard: {} },
      /4016844Ki \+ 100Mi of memory, and w-1 has/,
    ],
    [
      "too much with the default limit that is merged",
      {
        systemReserved: { memory: "4016844Ki" },
        evictionHard: { "nodefs.available": "5%" },
        mergeDefaultEvictionSettings: true,
      },
      /4016844Ki \+ 100Mi of memory, and w-1 has/,
    ],
    [
      "too much with its limit of evictions",
      { kubeReserved: { "ephemeral-storage": "28Gi" }, evictionHard: { "nodefs.available": "20%" } },
      /28Gi \+ 20% of ephemeral-storage, and w-1 has 30Gi:/,
    ],
  ];
  for (const [what, kubelet, refusal] of beyond)
    it(`is refused for ${what}`, () => {
      const [found, ...others] = reservationRefusals([SMALL, LARGE], { ...kubelet });
      assert.match(found ?? "", refusal);
      assert.deepEqual(others, []);
    });
});
