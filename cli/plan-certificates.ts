import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import type { SeenCertificate } from "./forecast/facts";
import type { ChosenContext } from "./plan-kubeconfig";

const SECONDS = 5;

/** Returns the certificates that need no rights to read: the API server's and the kubeconfig's own. */
export async function seenCertificates(server: string, chosen: ChosenContext): Promise<SeenCertificate[]> {
  const served = await servedUntil(server);
  const own = chosen.clientCertificate && endOf(chosen.clientCertificate);
  return [
    ...(served ? [{ what: `the API server's certificate (${server})`, notAfter: served }] : []),
    ...(own
      ? [
          {
            what: `the kubeconfig's client certificate (context ${chosen.context})`,
            isOfKubeconfig: true as const,
            notAfter: own,
          },
        ]
      : []),
  ];
}

function endOf(pem: string): string | undefined {
  try {
    return new Date(new X509Certificate(pem).validTo).toISOString();
  } catch {
    return undefined;
  }
}

/** Reads the certificate and disconnects. The calls before have already verified it. */
function servedUntil(server: string): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(server);
  if (protocol !== "https:") return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false }, () => {
      const { valid_to: end } = socket.getPeerCertificate();
      socket.destroy();
      resolve(end ? new Date(end).toISOString() : undefined);
    });
    const giveUp = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.setTimeout(SECONDS * 1_000, giveUp);
    socket.on("error", giveUp);
  });
}
