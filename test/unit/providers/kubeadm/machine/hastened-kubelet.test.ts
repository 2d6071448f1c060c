import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { uptime } from "node:os";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "./run-shell";

const CERTIFICATE = "/var/lib/kubelet/pki/kubelet-client-current.pem";
const { scratch: SCRATCH } = NODE_PATHS;
const READY = "/run/own-server-ready";

interface Situation {
  readonly controlPlane: boolean;
  /** How long the kubelet runs, in seconds; a restart makes it 0. */
  readonly age: number;
  /** Commands that run meanwhile. */
  readonly meanwhile?: string;
  /** Commands at a restart of the kubelet. */
  readonly atRestart?: string;
}

/** Lets a join wait for its kubelet. @returns how often that was restarted, and whether the API server was asked */
function hasten({ controlPlane, age, meanwhile = ":", atRestart = ":" }: Situation) {
  const host = new ShellMachine();
  const [started, restarts, asked] = ["/run/started", "/run/restarts", "/run/asked"].map((file) =>
    host.path(file),
  ) as [string, string, string];
  host.write("/run/started", String(Math.round((uptime() - age) * 1_000_000)));
  host.write(`${SCRATCH}/joining`, "");
  host.write("/var/lib/kubelet/pki/README", "");
  host.program("curl", `touch ${asked}; test -e ${host.path(READY)}`);
  host.program(
    "systemctl",
    `if [ "$1" = show ]; then cat ${started}; exit; fi
echo "$*" >>${restarts}; echo 999999999999999 >${started}; cd ${host.root}; ${atRestart}`,
  );
  const { status, stderr } = host.run(
    { "membership/join": ["is_own_server_ready", "hasten_kubelet"] },
    {},
    `secrets=${controlPlane ? "some" : "''"}
     (cd ${host.root}; ${meanwhile}) & hasten_kubelet`,
  );
  assert.equal(status, 0, stderr);
  const restarted = existsSync(restarts) ? readFileSync(restarts, "utf8").trim().split("\n") : [];
  assert.ok(restarted.every((line) => line === "restart kubelet"));
  return { restarts: restarted.length, asked: existsSync(asked) };
}

describe("the kubelet of a joining machine", () => {
  it("is restarted when the API server of its control plane is ready, and not again with its certificate", () => {
    const found = hasten({
      controlPlane: true,
      age: 9,
      meanwhile: `sleep 0.3; touch .${READY}`,
      atRestart: `touch .${CERTIFICATE}`,
    });
    assert.deepEqual(found, { restarts: 1, asked: true });
  });

  it("is restarted with its certificate if it has waited for that, since it pauses before it registers", () => {
    const meanwhile = `sleep 0.3; touch .${CERTIFICATE}`;
    assert.deepEqual(hasten({ controlPlane: false, age: 5, meanwhile }), { restarts: 1, asked: false });
    assert.deepEqual(hasten({ controlPlane: false, age: 0, meanwhile }), { restarts: 0, asked: false });
  });

  it("is left alone when kubeadm has ended without a certificate", () => {
    const meanwhile = `sleep 0.3; rm .${SCRATCH}/joining`;
    assert.deepEqual(hasten({ controlPlane: true, age: 5, meanwhile }), { restarts: 0, asked: true });
  });
});
