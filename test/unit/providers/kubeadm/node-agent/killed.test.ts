import assert from "node:assert/strict";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();

/** The desired version, by software. */
const STAGED: Record<string, string> = {
  "os-packages": "2026-11",
  containerd: "1.7.2",
  kubeadm: "1.36.3",
  images: "1.36.3",
  kubelet: "1.36.3",
  kubectl: "1.36.3",
};

/** A machine whose installers have more to do once their version is there. */
function machineAt(options: ConstructorParameters<typeof AgentMachine>[0]): AgentMachine {
  const machine = new AgentMachine(options);
  const agent = `${machine.folder}/var/lib/foresail/agent`;
  for (const [software, version] of Object.entries(STAGED)) {
    const brings = software === "os-packages" ? `printf '%s' ${version} >${agent}/os-packages` : "";
    // "check" is not an installation
    const ends = `if [ "$1" = install ]; then mkdir -p ${machine.folder}/ended; : >${machine.folder}/ended/${software}; fi`;
    machine.stage(software, version, [brings, ends].join("\n"));
  }
  return machine;
}

function desireAll(machine: AgentMachine): void {
  for (const software of ["os-packages", "containerd"])
    machine.annotate(KEYS.desired(software), STAGED[software]!);
  machine.setDesired("1.36.3");
}

/** What must be the same at the end, killed or not. */
function outcome(machine: AgentMachine) {
  const { annotations, changes, versions } = machine;
  const lastInstall = changes.lastIndexOf("install kubelet 1.36.3 install");
  return {
    annotations,
    versions,
    isRestartedAfterInstall: changes.lastIndexOf("systemctl restart kubelet") > lastInstall,
    isApplyLeftOpen: machine.exists("/var/lib/foresail/agent/applying"),
    halfInstalled: Object.keys(STAGED).filter((name) =>
      machine.exists(`/var/lib/foresail/agent/installing/${name}`),
    ),
    // all that an installer does after the version is there, such as a hold or a restart
    neverEnded: Object.keys(STAGED).filter((name) => !machine.exists(`/ended/${name}`)),
  };
}

/** Whether ready=false was on the Node before anything else was changed, and ready=true came last. */
function isOrdered({ changes }: AgentMachine): boolean {
  const first = changes.findIndex((change) => !change.startsWith("annotate"));
  const closed = changes.findIndex((change) => change.includes(`${KEYS.ready}=false`));
  return closed >= 0 && closed < first && changes.at(-1)!.includes(`${KEYS.ready}=true`);
}

describe("a node agent that is killed", function () {
  this.timeout(240_000);

  for (const [who, options] of [
    ["on the first control plane", { controlPlane: true }],
    ["on a further control plane", { controlPlane: true, cluster: "1.36.3" }],
    ["on a worker", { cluster: "1.36.3" }],
  ] as const)
    it(`${who}, before or after each of its changes, ends in the same state when it is started again`, async () => {
      const reference = machineAt(options);
      desireAll(reference);
      assert.equal(reference.run("--once").status, 0);
      const expected = outcome(reference);
      assert.equal(expected.versions.running, "1.36.3");
      assert.deepEqual([expected.halfInstalled, expected.neverEnded], [[], []]);
      const points = reference.changes.map((change) =>
        change.startsWith("annotate") ? "annotate node" : change,
      );
      reference.remove();
      for (const point of new Set(points))
        for (const when of ["before", "after"] as const) {
          const machine = machineAt(options);
          try {
            desireAll(machine);
            await machine.killAt(when, point);
            const { status, output } = machine.run("--once");
            assert.equal(status, 0, output);
            assert.deepEqual(outcome(machine), expected, `killed ${when} ${point}`);
            assert.ok(isOrdered(machine), `killed ${when} ${point}: ${machine.changes.join("\n")}`);
          } finally {
            machine.remove();
          }
        }
    });

  it("starts the kubelet that it had stopped, before it asks an API server that may need it", async () => {
    const machine = machineAt({ controlPlane: true });
    try {
      desireAll(machine);
      await machine.killAt("after", "systemctl stop kubelet");
      machine.useScript("kubectl", ["echo the connection was refused >&2; exit 1"]);
      assert.equal(machine.run("--once").status, 75);
      assert.equal(machine.calls.filter((call) => call === "systemctl start kubelet").length, 1);
      machine.run("--once");
      assert.equal(machine.calls.filter((call) => call === "systemctl start kubelet").length, 1);
    } finally {
      machine.remove();
    }
  });

  it("applies again when it was killed meanwhile, although kubeadm has recorded the version already", async () => {
    const machine = new AgentMachine({ controlPlane: true });
    try {
      machine.setDesired("1.36.3");
      await machine.killAt("after", "kubeadm upgrade apply v1.36.3");
      assert.equal(machine.versions.cluster, "1.36.3");
      assert.equal(machine.run("--once").status, 0);
      const applied = machine.changes.filter((change) => change.startsWith("kubeadm upgrade apply"));
      assert.equal(applied.length, 2);
    } finally {
      machine.remove();
    }
  });

  it("continues although another writer has set ready=true meanwhile", async () => {
    const machine = new AgentMachine({ cluster: "1.36.3" });
    try {
      machine.setDesired("1.36.3");
      await machine.killAt("after", "install kubectl 1.36.3 install");
      machine.annotate(KEYS.ready, "true");
      assert.equal(machine.run("--once").status, 0);
      assert.equal(machine.versions.running, "1.36.3");
      assert.ok(machine.changes.includes("systemctl restart kubelet"));
    } finally {
      machine.remove();
    }
  });

  it("does not continue while changes are no longer allowed", async () => {
    const machine = new AgentMachine({ cluster: "1.36.3" });
    try {
      machine.setDesired("1.36.3");
      await machine.killAt("after", "install kubeadm 1.36.3 install");
      machine.annotate(KEYS.changesAllowed, "false");
      const { length } = machine.changes.filter((change) => !change.startsWith("annotate"));
      assert.equal(machine.run("--once").status, 0);
      assert.equal(machine.changes.filter((change) => !change.startsWith("annotate")).length, length);
      assert.equal(machine.annotations[KEYS.ready], "false");
    } finally {
      machine.remove();
    }
  });
});
