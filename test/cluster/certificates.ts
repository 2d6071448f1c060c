import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import { parseCertificates, type CertificateReport } from "../../providers/kubeadm/plan/certificates/report";
import { awaitNode } from "./await-node";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import type { TestCluster } from "./test-cluster";

const REPORT = annotationKeys().current("certificates");
const REPORT_SECONDS = 120;
const RENEW_SECONDS = 90;

/** Gives a control plane certificates that are valid as long as this, as kubeadm writes them: "240h". */
export const shortenCertificates = (cluster: TestCluster, machine: string, validity: string) =>
  cluster.onMachine(
    machine,
    `set -e
cat >/run/short.yaml <<END
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v${KUBERNETES_VERSION}
certificateValidityPeriod: ${validity}
END
kubeadm certs renew all --config /run/short.yaml
rm /run/short.yaml`,
    RENEW_SECONDS,
  );

/** Lets the agent of a machine look at once, and waits until it reports what is expected. */
export async function awaitCertificates(
  cluster: TestCluster,
  name: string,
  what: string,
  isThere: (report: CertificateReport) => boolean,
): Promise<void> {
  await cluster.onMachine(name, "systemctl restart foresail-node-agent");
  await awaitNode(cluster, name, {
    what: `the report of ${name}: ${what}`,
    seconds: REPORT_SECONDS,
    decide: ({ metadata }) => {
      const report = parseCertificates(metadata?.annotations?.[REPORT]);
      return report && isThere(report) ? undefined : (metadata?.annotations?.[REPORT] ?? "no report");
    },
  });
}

/** When a certificate on a machine ends, as openssl prints it. */
export const endOnMachine = async (cluster: TestCluster, machine: string, file: string) =>
  new Date(
    (await cluster.onMachine(machine, `openssl x509 -noout -enddate -in ${file}`))
      .trim()
      .replace("notAfter=", ""),
  );

/** Stops the kubelet of a control plane, which renews its certificate itself, and gives it one that is valid as long as this: "90s". */
export const shortenKubelet = (cluster: TestCluster, machine: string, validity: string) =>
  cluster.onMachine(
    machine,
    `set -e
cat >/run/short.yaml <<END
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v${KUBERNETES_VERSION}
controlPlaneEndpoint: 127.0.0.1:6443
END
systemctl stop kubelet
kubeadm kubeconfig user --config /run/short.yaml --client-name system:node:${machine} --org system:nodes \\
  --validity-period ${validity} >/run/short.conf 2>/dev/null
for part in certificate key; do sed -n "s/^ *client-$part-data: //p" /run/short.conf | base64 -d; done >/var/lib/kubelet/pki/short.pem
ln -sfT /var/lib/kubelet/pki/short.pem /var/lib/kubelet/pki/kubelet-client-current.pem
rm /run/short.yaml /run/short.conf`,
    RENEW_SECONDS,
  );
