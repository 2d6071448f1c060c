import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { parseCertificates } from "../../../../../providers/kubeadm/plan/certificates/report";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const REPORT = KEYS.current("certificates");
const PKI = "/etc/kubernetes/pki";
const KUBECONFIG = "/etc/kubernetes/admin.conf";

/** Returns a certificate that is valid for some days. */
function certificateFor(days: number): string {
  const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /CN=one";
  const args = ["req", "-x509", ...key.split(" "), "-days", String(days)];
  return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

const kubeconfigWith = (certificate: string) =>
  `users:\n- user:\n    client-certificate-data: ${Buffer.from(certificate).toString("base64")}\n`;

describe("a node agent and the certificates of its machine", function () {
  this.timeout(120_000);
  const [soon, later] = [10, 300].map(certificateFor) as [string, string];

  /** A control plane, on which `kubeadm certs renew` writes certificates that end later. */
  function controlPlane(): AgentMachine {
    const machine = new AgentMachine({ controlPlane: true, version: "1.36.3", staged: ["1.36.3"] });
    const { folder } = machine;
    for (const name of ["apiserver", "etcd/server", "ca"]) machine.put(`${PKI}/${name}.crt`, soon);
    for (const name of ["ca", "etcd/ca", "front-proxy-ca"]) machine.put(`${PKI}/${name}.key`, "key\n");
    machine.put(KUBECONFIG, kubeconfigWith(soon));
    machine.put("/later.crt", later);
    machine.put("/later.conf", kubeconfigWith(later));
    machine.put("/etc/kubernetes/manifests/etcd.yaml", "metadata:\n  name: etcd\n");
    machine.put("/etc/kubernetes/manifests/kube-apiserver.yaml", "metadata:\n  name: kube-apiserver\n");
    machine.setDesired("1.36.3");
    machine.state(
      "renewal",
      `cp ${folder}/later.crt ${folder}${PKI}/apiserver.crt; cp ${folder}/later.crt ${folder}${PKI}/etcd/server.crt; cp ${folder}/later.conf ${folder}${KUBECONFIG}`,
    );
    // the kubelet makes a static pod again when its manifest is replaced
    machine.useScript("mv", [
      '/bin/mv "$@"',
      'pod=$(basename "${!#}" .yaml)',
      `case \${!#} in */manifests/*) mkdir -p ${folder}/proc/$$; echo "\${pod:0:15}" >${folder}/proc/$$/comm ;; esac`,
    ]);
    return machine;
  }
  const firstOf = ({ annotations }: AgentMachine, name = "apiserver") =>
    parseCertificates(annotations[REPORT])?.ends.find((one) => one.name === name)?.ends ?? "";

  it("reports when each of them ends, also those in kubeconfigs and of the kubelet", () => {
    const machine = controlPlane();
    machine.put("/var/lib/kubelet/pki/kubelet-client-current.pem", later);
    machine.annotate(KEYS.changesAllowed, "false");
    assert.equal(machine.run("--once").status, 0);
    const report = parseCertificates(machine.annotations[REPORT]);
    assert.deepEqual(
      report?.ends.map(({ name }) => name),
      ["apiserver", "ca", "etcd-server", "admin.conf", "kubelet-client"],
    );
    assert.ok(firstOf(machine) < firstOf(machine, "kubelet-client"));
    assert.equal(firstOf(machine), firstOf(machine, "admin.conf"));
    machine.take(`${PKI}/etcd/ca.key`);
    machine.put(`${PKI}/apiserver.crt`, later);
    machine.run("--once");
    assert.equal(parseCertificates(machine.annotations[REPORT])?.isForeign, true);
  });

  it("renews them when its Node asks for it, and restarts etcd before the API server", () => {
    const machine = controlPlane();
    machine.run("--once");
    const before = firstOf(machine);
    machine.annotate(KEYS.desired("certificates"), `after:${before}`);
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.ok(firstOf(machine) > before);
    assert.match(output, /kubeadm certs renew all[^]*restart etcd[^]*restart kube-apiserver/);
    assert.match(machine.read("/etc/kubernetes/manifests/etcd.yaml"), /foresail\/restarted-at/);
    assert.equal(machine.annotations[KEYS.ready], "true");
    const renewals = () => machine.calls.filter((call) => call.includes("certs renew")).length;
    assert.equal(renewals(), 1);
    machine.run("--once");
    assert.equal(renewals(), 1);
  });

  it("restarts what reads them after it was killed between the renewal and the restarts", async () => {
    const machine = controlPlane();
    machine.run("--once");
    machine.annotate(KEYS.desired("certificates"), `after:${firstOf(machine)}`);
    await machine.killAt("after", "kubeadm certs renew all");
    assert.doesNotMatch(machine.read("/etc/kubernetes/manifests/etcd.yaml"), /restarted-at/);
    assert.equal(machine.run("--once").status, 0);
    assert.match(machine.read("/etc/kubernetes/manifests/etcd.yaml"), /restarted-at/);
    assert.equal(machine.annotations[KEYS.ready], "true");
  });

  it("does nothing for a request of another form, or while changes are not allowed", () => {
    const machine = controlPlane();
    machine.annotate(KEYS.desired("certificates"), "2030-01-01T00:00:00Z");
    machine.run("--once");
    machine.annotate(KEYS.desired("certificates"), "after:2030-01-01T00:00:00Z");
    machine.annotate(KEYS.changesAllowed, "false");
    machine.run("--once");
    assert.ok(!machine.calls.some((call) => call.includes("certs renew")));
  });
});
