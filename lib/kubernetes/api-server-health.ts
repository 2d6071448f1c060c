import { get } from "node:https";

/**
 * Asks an API server whether it is ready, as any load balancer would: without credentials, and without
 * checking its certificate, since nothing of the answer is trusted but that it came.
 *
 * @param server host:port
 * @param milliseconds until an answer that has not come counts as none
 */
export function isReady(server: string, milliseconds = 3000): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      `https://${server}/readyz`,
      // a socket's own timeout begins anew when it connects
      { rejectUnauthorized: false, signal: AbortSignal.timeout(milliseconds), agent: false },
      (response) => {
        response.resume();
        // a cluster without anonymous access answers 401 or 403, and it does answer
        resolve([200, 401, 403].includes(response.statusCode ?? 0));
      },
    );
    request.on("error", () => resolve(false));
  });
}
