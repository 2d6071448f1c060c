import { reading } from "../adoption/adoption-steps";
import { plainStep, step } from "../steps";

/** The folder of the machine's files. */
const ROOT = "";

const readEnds = reading("certificate-ends");

/** Reads when the certificates of a machine end, for parseReadCertificates. Writes nothing. */
export const certificateEndsScript = (cluster: string, machine: string) =>
  readEnds(cluster, machine, { ROOT });

/**
 * Renews certificates of a control plane, also without the API, and restarts what reads them. Its answer is empty.
 *
 * @param certificate the name that kubeadm gives it, or "all", and then that of a kubelet which has ended, too
 */
export const renewCertificatesScript = (
  cluster: string,
  machine: string,
  certificate: "all" | "admin.conf",
) => step("renew-certificates", cluster, machine, { ROOT, CERTIFICATE: certificate });

/** Waits until the static pods of a control plane are healthy. Its answer is empty. @param seconds for all of them */
export const awaitStaticPodsScript = (cluster: string, machine: string, seconds: number) =>
  step("await-static-pods", cluster, machine, { ROOT, READY_SECONDS: seconds });

/** Makes a key for the kubelet on its machine. Answers a request for a client certificate, PEM. */
export const kubeletRequestScript = plainStep("kubelet-request");

/** Gives a kubelet the certificate for its request, and restarts it. Data: base64 of the PEM. Its answer is empty. */
export const kubeletCertificateScript = plainStep("kubelet-certificate");
