import { randomBytes } from "node:crypto";
import type { KubernetesClient } from "./client";
import type { KubernetesObject } from "./objects";

/** A certificate for a client of the API. */
export interface ClientCertificateRequest {
  /** PEM of a PKCS#10 request, whose key stays where it was made. */
  readonly request: string;
  readonly signer: "kubernetes.io/kube-apiserver-client" | "kubernetes.io/kube-apiserver-client-kubelet";
  /** How long it is valid, in seconds, at least 600; absent for the cluster's own time. */
  readonly seconds?: number;
  /** Why it is approved, for those who read the cluster's objects. */
  readonly reason: string;
  /** Time limit of the wait for the signer, in seconds. */
  readonly waitSeconds: number;
  readonly signal?: AbortSignal;
}

interface SigningRequest extends KubernetesObject {
  status?: { certificate?: string; conditions?: { type: string; message?: string }[] };
}

const API = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" };

/**
 * Lets the cluster sign a certificate: creates a CertificateSigningRequest, approves it, waits for the certificate, and deletes
 * the request.
 *
 * @returns the certificate, PEM
 * @throws WaitTimeout when no controller signs it; Error with the reason when the signer refuses it
 */
export async function signClientCertificate(
  client: KubernetesClient,
  { request, signer, seconds, reason, waitSeconds, signal }: ClientCertificateRequest,
): Promise<string> {
  const ref = { ...API, name: `foresail-${randomBytes(6).toString("hex")}` };
  await client.create({
    ...API,
    metadata: { name: ref.name },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: signer,
      usages: ["client auth", "digital signature"],
      ...(seconds === undefined ? {} : { expirationSeconds: seconds }),
    },
  });
  try {
    const conditions = [{ type: "Approved", status: "True", reason: "ForesailApproved", message: reason }];
    await client.mergePatch(ref, { status: { conditions } }, { subresource: "approval" });
    const certificate = await client.watchUntil<string, SigningRequest>({
      ...ref,
      what: "the controller manager to sign the certificate",
      seconds: waitSeconds,
      ...(signal ? { signal } : {}),
      decide: ([found]) => {
        const failed = found?.status?.conditions?.find(({ type }) => type === "Failed");
        if (failed) throw new Error(`the signer ${signer} refused the certificate: ${failed.message}`);
        const signed = found?.status?.certificate;
        return signed ? { done: signed } : { pending: "it is not signed yet" };
      },
    });
    return Buffer.from(certificate, "base64").toString();
  } finally {
    await client.delete(ref).catch(() => undefined);
  }
}
