import { get } from "node:https";
import type { TLSSocket } from "node:tls";
import { certificateAdvice } from "../clock";
import type { ApiEndpoint } from "./kubeconfig";

/**
 * Returns whether an API server is ready. Like a load balancer, it sends no credentials and does not verify the
 * certificate, because only the status code is used.
 *
 * @param server host:port
 * @param milliseconds timeout for the response
 */
export function isReady(server: string, milliseconds = 3000): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      `https://${server}/readyz`,
      // a socket's own timeout restarts when it connects
      { rejectUnauthorized: false, signal: AbortSignal.timeout(milliseconds), agent: false },
      (response) => {
        response.resume();
        // a cluster without anonymous access responds with 401 or 403, which shows that it is up
        resolve([200, 401, 403].includes(response.statusCode ?? 0));
      },
    );
    request.on("error", () => resolve(false));
  });
}

/**
 * What an API server serves. One that refuses connections, or takes them and does not answer while it tries to start, serves
 * nothing; a silent one may be down.
 */
export type Served = "valid" | "nothing valid" | "silent";

/**
 * Returns whether an API server answers with a certificate that has not ended. Verifies nothing else of it.
 *
 * @param server host:port
 * @param signal ends the wait; a server that did not take the connection until then is silent
 */
export function servedCertificate(server: string, signal: AbortSignal): Promise<Served> {
  return new Promise((resolve) => {
    const options = { rejectUnauthorized: false, signal, agent: false as const };
    const request = get(`https://${server}/readyz`, options, (response) => {
      const { valid_to: end } = (response.socket as TLSSocket).getPeerCertificate();
      response.resume();
      const isReady = [200, 401, 403].includes(response.statusCode ?? 0);
      resolve(isReady && Date.parse(end) > Date.now() ? "valid" : "nothing valid");
    });
    let isUp = false;
    request.on("socket", (socket) => socket.once("connect", () => (isUp = true)));
    request.on("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(isUp || code === "ECONNREFUSED" ? "nothing valid" : "silent"),
    );
  });
}

const CLOCK_MILLISECONDS = 3000;

/**
 * Returns what to do about an API server whose certificate is not valid by the clock here. Asks it without credentials
 * for its certificate and its time, which are only compared and shown, since nothing shows that it is the right server.
 */
export function certificateClockAdvice({ server, tls }: ApiEndpoint): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = {
      rejectUnauthorized: false,
      servername: tls.servername,
      signal: AbortSignal.timeout(CLOCK_MILLISECONDS),
      agent: false as const,
    };
    const request = get(new URL("/readyz", server), options, (response) => {
      const certificate = (response.socket as TLSSocket).getPeerCertificate();
      response.resume();
      const date = new Date(String(response.headers.date));
      const validity = { from: new Date(certificate.valid_from), to: new Date(certificate.valid_to) };
      resolve(certificateAdvice(validity, new Date(), Number.isNaN(date.getTime()) ? undefined : date));
    });
    request.on("error", () => resolve(undefined));
  });
}
