import { stringify } from "yaml";
import { newKeyAndRequest } from "../../lib/certificate-request";
import { userName } from "../../lib/kubernetes/lease-holder";
import { KubernetesClient } from "../../lib/kubernetes";
import { signClientCertificate } from "../../lib/kubernetes/certificate-request";
import { readYamlOf } from "../../lib/yaml";
import { parseDuration } from "../../providers/kubeadm/plan/validation/field-values";
import { readClusterState, stackKubeconfig } from "../engine/cluster-state";
import { EXIT, UsageError } from "../terminal/exit-codes";

/** Prints the new key, which the filter of secrets would mask. */
const write = (text: string): void => void process.stdout.write(text);

export interface KubeconfigOptions {
  readonly stack?: string;
  /** How long the certificate is valid, such as "1h". */
  readonly ttl: string;
  readonly user?: string;
  readonly group: readonly string[];
}

/** Group with which kubeadm binds administrators to the ClusterRole cluster-admin. */
export const ADMINISTRATORS = "kubeadm:cluster-admins";
/** Time limit for a control plane to answer, and for the cluster to sign. */
const SECONDS = 30;
/** The API accepts no shorter certificate. */
const LEAST_SECONDS = 600;
const MOST_SECONDS = 30 * 86_400;

/**
 * Prints a kubeconfig for a stack's cluster with a client certificate that ends soon. The cluster signs it; its key is made
 * here.
 *
 * @returns the exit code
 */
export async function kubeconfig(
  { stack, ttl, user = `foresail:${userName()}`, group }: KubeconfigOptions,
  say = write,
): Promise<number> {
  const seconds = ttlSeconds(ttl);
  const { kubeconfig: text } = await readClusterState(stack);
  const groups = group.length > 0 ? group : [ADMINISTRATORS];
  const { key, request } = newKeyAndRequest({ user, groups });
  const client = await KubernetesClient.connect({ kubeconfig: stackKubeconfig(text) }, { seconds: SECONDS });
  try {
    const certificate = await signClientCertificate(client, {
      request,
      signer: "kubernetes.io/kube-apiserver-client",
      seconds,
      reason: `foresail kubeconfig for ${user}`,
      waitSeconds: SECONDS,
    });
    say(withCredentials(text, user, certificate, key));
  } finally {
    client.close();
  }
  return EXIT.done;
}

/** Returns the seconds of a time to live. @throws UsageError */
export function ttlSeconds(ttl: string): number {
  const seconds = parseDuration(ttl);
  if (seconds === undefined || seconds < LEAST_SECONDS || seconds > MOST_SECONDS)
    throw new UsageError(`--ttl ${ttl}: write a duration from 10m to 720h, such as 1h`);
  return Math.round(seconds);
}

interface Kubeconfig {
  contexts?: { context?: { user?: string } }[];
  [field: string]: unknown;
}

/** Returns a kubeconfig with the same clusters and contexts, and this user alone. @param certificate PEM @param key PEM */
export function withCredentials(text: string, user: string, certificate: string, key: string): string {
  const base64 = (pem: string) => Buffer.from(pem).toString("base64");
  const { contexts = [], ...others } = readYamlOf("the kubeconfig of the stack", text) as Kubeconfig;
  return stringify({
    ...others,
    contexts: contexts.map((one) => ({ ...one, context: { ...one.context, user } })),
    users: [
      {
        name: user,
        user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) },
      },
    ],
  });
}
